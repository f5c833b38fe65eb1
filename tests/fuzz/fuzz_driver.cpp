// A deterministic driver for fuzz targets that works with any compiler: every seed as it is and cut
// at every length, then a given number of seeded mutations. It has no coverage feedback; libFuzzer
// has.
//
//   fuzz_<name> [--runs N] [--seed S] [--from I] [FILE...]
//
// Run I of seed S is always the same input, so a failure is repeated with --seed S --from I --runs
// 1 and the same files. FILEs are further seeds.
#include "tests/fuzz/fuzz_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

// Sanitizers end the process without a signal; they call this instead. Absent in other builds.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

// A target's own definition comes before this one.
__attribute__((weak)) std::vector<std::string> r1::fuzz::seeds() { return {}; }

namespace {

/// Lengths up to this are tried one by one for each seed.
constexpr std::size_t kCutsMax = 4096;
/// Mutated inputs do not grow above this.
constexpr std::size_t kInputBytesMax = std::size_t{1} << 20;

std::uint64_t current_seed = 0;
std::uint64_t current_run = 0;
bool in_mutation = false;

/// Names the failing run with async-signal-safe calls only.
void report_run() {
  char line[160];
  const int length =
      in_mutation ? std::snprintf(line, sizeof line,
                                  "fuzz: failed; repeat with --seed %llu --from %llu --runs 1\n",
                                  static_cast<unsigned long long>(current_seed),
                                  static_cast<unsigned long long>(current_run))
                  : std::snprintf(line, sizeof line, "fuzz: failed on a seed or a cut of one\n");
  static_cast<void>(::write(STDERR_FILENO, line, static_cast<std::size_t>(length)));
}

void on_signal(int number) {
  report_run();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// splitmix64 (Steele, Lea, Flood 2014): any start value is a good one.
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number in [0, end); 0 for end = 0.
  std::size_t below(std::size_t end) {
    return end == 0 ? 0 : static_cast<std::size_t>(next() % end);
  }

 private:
  std::uint64_t state_;
};

/// Edges of integer types, written little-endian with 1, 2, 4 or 8 bytes.
std::uint64_t odd_number(Random& random) {
  static constexpr std::array<std::uint64_t, 16> kOdd = {0,
                                                         1,
                                                         2,
                                                         16,
                                                         0x7f,
                                                         0x80,
                                                         0xff,
                                                         0x7fff,
                                                         0xffff,
                                                         0x7fffffff,
                                                         0x80000000,
                                                         0xffffffff,
                                                         std::uint64_t{1} << 32,
                                                         std::uint64_t{1} << 62,
                                                         std::uint64_t{1} << 63,
                                                         ~std::uint64_t{0}};
  return kOdd[random.below(kOdd.size())];
}

void overwrite_number(std::string& input, Random& random) {
  const std::size_t width = std::size_t{1} << random.below(4);
  if (input.size() < width) return;
  const std::size_t at = random.below(input.size() - width + 1);
  std::uint64_t value = odd_number(random);
  if (random.below(2) == 0) {
    std::uint64_t old = 0;
    for (std::size_t i = width; i-- > 0;)
      old = old << 8 | static_cast<unsigned char>(input[at + i]);
    value = old + random.below(17) - 8;
  }
  for (std::size_t i = 0; i < width; ++i)
    input[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

void mutate_once(std::string& input, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = random.below(input.size());
  const std::size_t count = 1 + random.below(std::min<std::size_t>(64, input.size() - at + 1));
  switch (random.below(8)) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
      break;
    case 1:
      if (!input.empty()) input[at] = static_cast<char>(random.next());
      break;
    case 2:
    case 3:
      overwrite_number(input, random);
      break;
    case 4:
      input.erase(at, count);
      break;
    case 5:  // a piece of it once more, elsewhere
      input.insert(random.below(input.size() + 1), input.substr(at, count));
      break;
    case 6: {  // a piece of another seed
      const std::string& other = seeds[random.below(seeds.size())];
      const std::size_t from = random.below(other.size());
      input.insert(at, other, from, 1 + random.below(256));
      break;
    }
    default:
      if (random.below(4) == 0) {
        input.resize(at);
      } else {
        std::string fresh(count, '\0');
        for (char& c : fresh) c = static_cast<char>(random.next());
        input.insert(at, fresh);
      }
      break;
  }
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
}

void run(const std::string& input) {
  // A copy of exactly this size on the heap, so that address sanitizers see a read past its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// For targets without seeds: strings of random bytes, from none to 255 of them.
std::vector<std::string> random_seeds(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> out;
  for (std::size_t length = 0; length < 256; length = length * 2 + 1) {
    std::string& text = out.emplace_back(length, '\0');
    for (char& c : text) c = static_cast<char>(random.next());
  }
  return out;
}

struct Options {
  std::uint64_t runs = 10000;
  std::uint64_t seed = 1;
  std::uint64_t from = 0;
  std::vector<std::string> files;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::uint64_t* number = argument == "--runs"   ? &options.runs
                            : argument == "--seed" ? &options.seed
                            : argument == "--from" ? &options.from
                                                   : nullptr;
    if (!number) {
      if (argument.starts_with("--")) return false;
      options.files.emplace_back(argument);
      continue;
    }
    if (++i == argc) return false;
    char* end = nullptr;
    *number = std::strtoull(argv[i], &end, 10);
    if (*end != '\0' || end == argv[i]) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--runs N] [--seed S] [--from I] [FILE...]\n", argv[0]);
    return 2;
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(number, on_signal);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(report_run);

  std::vector<std::string> seeds = r1::fuzz::seeds();
  for (const std::string& path : options.files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      return 2;
    }
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) seeds = random_seeds(options.seed);
  if (options.from == 0) {
    for (const std::string& seed : seeds) {
      run(seed);
      for (std::size_t size = 0; size < std::min(seed.size(), kCutsMax); ++size)
        run(seed.substr(0, size));
    }
  }
  in_mutation = true;
  current_seed = options.seed;
  for (std::uint64_t i = options.from; i < options.from + options.runs; ++i) {
    current_run = i;
    Random random(options.seed * 0x9e3779b97f4a7c15 + i);
    std::string input = seeds[random.below(seeds.size())];
    const std::size_t mutations = 1 + random.below(8);
    for (std::size_t m = 0; m < mutations; ++m) mutate_once(input, seeds, random);
    run(input);
  }
  std::printf("%llu runs of seed %llu on %zu seed inputs: no failure\n",
              static_cast<unsigned long long>(options.runs),
              static_cast<unsigned long long>(options.seed), seeds.size());
  return 0;
}
