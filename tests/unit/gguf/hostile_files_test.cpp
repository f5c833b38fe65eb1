// Case L1: every crafted header ends in one clear error, and cheaply.
#include "tests/unit/gguf/hostile_files.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <limits>

#include "tests/unit/gguf/gguf_test_support.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define R1_TEST_HAS_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define R1_TEST_HAS_SHADOW_MEMORY 1
#endif
#endif

namespace r1::testing {

std::vector<HostileFile> hostile_metadata() {
  constexpr std::uint64_t k2to63 = std::uint64_t{1} << 63;
  const auto one_key = [] { return GgufBytes().header(0, 1); };
  std::vector<HostileFile> files;
  const auto add = [&](std::string what, GgufBytes image, std::vector<std::string> words) {
    files.push_back({std::move(what), std::move(image), std::move(words), ErrorCode::bad_file});
  };
  add("tensor count 2^63", GgufBytes().header(k2to63, 0),
      {"byte 8", "number of tensors", "9223372036854775808"});
  add("tensor count 2^32", GgufBytes().header(1ull << 32, 0), {"byte 8", "number of tensors"});
  add("tensor count without tensors", GgufBytes().header(1000, 0), {"byte 24", "tensor 1 of 1000"});
  add("key count 2^32", GgufBytes().header(0, 1ull << 32),
      {"byte 16", "number of metadata keys", "4294967296"});
  add("key count 2^64-1", GgufBytes().header(0, ~0ull), {"byte 16", "number of metadata keys"});
  add("key count without keys", GgufBytes().header(0, 1000), {"byte 24", "metadata key 1 of 1000"});
  add("key length 2^63", one_key().u64(k2to63), {"byte 24", "name of key", "9223372036854775808"});
  add("key length 0", one_key().key_u32("", 1), {"byte 24", "name of key", "got 0"});
  add("key length 65536", one_key().key_u32(std::string(65536, 'k'), 1),
      {"byte 24", "65535", "65536"});
  add("key longer than the file", one_key().u64(100).raw("abc"),
      {"byte 32", "needs 100 bytes", "got 3", "incomplete"});
  add("value type 13", one_key().key("k", 13).u64(0),
      {"key 'k'", "type of value", "0 to 12", "got 13"});
  add("value type 2^32-1", one_key().key("k", 0xffffffff).u64(0), {"key 'k'", "got 4294967295"});
  add("value missing", one_key().key("k", kUint64).u32(1), {"byte 37", "needs 8 bytes", "got 4"});
  add("bool 2", one_key().key("k", kBool).u8(2), {"byte 37", "key 'k'", "bool", "0 or 1", "got 2"});
  add("string length 2^63", one_key().key("k", kString).u64(k2to63),
      {"byte 37", "key 'k'", "string value", "9223372036854775808"});
  add("string length 2^64-1", one_key().key("k", kString).u64(~0ull), {"key 'k'", "string value"});
  add("string length 2^30", one_key().key("k", kString).u64(1ull << 30), {"key 'k'", "1073741824"});
  add("string length remaining + 1", one_key().key("k", kString).u64(11).raw("0123456789"),
      {"byte 45", "needs 11 bytes", "got 10"});
  add("array length 2^62", one_key().key("k", kArray).u32(kUint8).u64(1ull << 62),
      {"byte 41", "key 'k'", "array length", "4611686018427387904"});
  add("array of 2^62 strings", one_key().key("k", kArray).u32(kString).u64(1ull << 62),
      {"byte 41", "array length"});
  add("array length wraps to 0 bytes", one_key().key("k", kArray).u32(kUint64).u64(1ull << 61),
      {"byte 41", "array length"});
  add("array remaining + 1", one_key().key("k", kArray).u32(kUint16).u64(3).u32(0).u8(0),
      {"byte 49", "needs 6 bytes", "got 5"});
  add("array of strings without strings", one_key().key("k", kArray).u32(kString).u64(1000).u64(0),
      {"byte 49", "needs 8000 bytes", "got 8"});
  add("string in array 2^63", one_key().key("k", kArray).u32(kString).u64(1).u64(k2to63),
      {"key 'k'", "string in array"});
  add("array of bools with a 7", one_key().key("k", kArray).u32(kBool).u64(3).u8(0).u8(1).u8(7),
      {"byte 51", "0 or 1", "got 7"});
  add("array of type 13", one_key().key("k", kArray).u32(13).u64(1).u64(0),
      {"array elements", "got 13"});
  GgufBytes nested = one_key().key("k", kArray);
  for (int depth = 0; depth < 10000; ++depth) nested.u32(kArray).u64(1);
  add("arrays nested 10,000 deep", nested.u32(kUint8).u64(1).u8(0), {"key 'k'", "array of arrays"});
  add("one key twice", GgufBytes().header(0, 2).key_u32("same", 1).key_u32("same", 1),
      {"key 'same'", "once", "1 and 2"});
  add("control characters in a key", one_key().key("a\nb\x1b[31m\xff", 13).u64(0),
      {"'a\\x0ab\\x1b[31m\\xff'"});
  for (const std::uint64_t alignment : {0ull, 1ull, 3ull, 4ull, 24ull, 1ull << 21, 1ull << 31}) {
    add("alignment " + std::to_string(alignment), one_key().key_u32("general.alignment", alignment),
        {"byte 53", "'general.alignment'", "power of two", "got " + std::to_string(alignment)});
  }
  add("alignment is a string", one_key().key_string("general.alignment", "32"),
      {"'general.alignment'", "an integer", "got string"});
  add("alignment -32", one_key().key("general.alignment", kInt32).u32(0xffffffe0), {"got -32"});
  return files;
}

std::vector<HostileFile> hostile_tensors() {
  const auto one = [] { return GgufBytes().header(1, 0); };
  const auto two = [] { return GgufBytes().header(2, 0); };
  std::vector<HostileFile> files;
  const auto add = [&](std::string what, GgufBytes image, std::vector<std::string> words,
                       ErrorCode code = ErrorCode::bad_file) {
    files.push_back({std::move(what), std::move(image), std::move(words), code});
  };
  const auto dims_count = [&](std::uint64_t count) {
    return one().string("t").u32(count).u64(1).u64(1).u64(1).u64(1).u64(1).u32(0).u64(0);
  };
  add("0 dimensions", dims_count(0), {"byte 33", "tensor 't'", "1 to 4", "got 0"});
  add("5 dimensions", dims_count(5), {"byte 33", "tensor 't'", "1 to 4", "got 5"});
  add("2^32-1 dimensions", dims_count(0xffffffff), {"tensor 't'", "got 4294967295"});
  add("dims [4, 0]", one().tensor("t", {4, 0}, 0, 0), {"tensor 't'", "dimension 1", "got 0"});
  add("dims [2^63, 2]", one().tensor("t", {1ull << 63, 2}, 0, 0), {"tensor 't'", "dimension 0"});
  add("dims [2^62+1, 4]", one().tensor("t", {(1ull << 62) + 1, 4}, 0, 0),
      {"tensor 't'", "product"});
  add("dims [2^32, 2^32]", one().tensor("t", {1ull << 32, 1ull << 32}, 0, 0),
      {"tensor 't'", "product"});
  add("bytes above 2^63", one().tensor("t", {1ull << 62}, 0, 0), {"tensor 't'", "2^63 bytes"});
  add("type 255", one().tensor("t", {32}, 255, 0),
      {"tensor 't'", "ggml type 255", "no known format", "F32, F16", "IQ4_XS"},
      ErrorCode::unsupported);
  add("type 17", one().tensor("t", {256}, 17, 0), {"tensor 't'", "IQ2_XS (ggml type 17)", "Q4_K"},
      ErrorCode::unsupported);
  add("type 34", one().tensor("t", {256}, 34, 0), {"TQ1_0 (ggml type 34)"}, ErrorCode::unsupported);
  add("type 39", one().tensor("t", {256}, 39, 0), {"MXFP4 (ggml type 39)"}, ErrorCode::unsupported);
  add("type 4", one().tensor("t", {256}, 4, 0), {"Q4_2 (ggml type 4)"}, ErrorCode::unsupported);
  add("row of 33 in Q8_0", one().tensor("t", {33}, 8, 0),
      {"tensor 't'", "Q8_0", "of 32", "got 33"});
  add("row of 128 in Q4_K", one().tensor("t", {128, 2}, 12, 0), {"Q4_K", "of 256", "got 128"});
  add("offset 2^64-32", one().tensor("t", {4}, 0, ~0ull - 31), {"tensor 't'", "offset", "2^63"});
  add("offset 2^63-32", one().tensor("t", {8}, 0, (1ull << 63) - 32),
      {"tensor 't'", "offset", "2^63"});
  add("offset 2^63-64", one().tensor("t", {8}, 0, (1ull << 63) - 64), {"tensor 't'", "2^63"});
  add("offset 16", one().tensor("t", {4}, 0, 16).pad().pattern(64),
      {"tensor 't'", "multiple of the alignment 32", "got 16"});
  add("offset behind the file", one().tensor("t", {4}, 0, 1 << 20).pad().pattern(16),
      {"tensor 't'", "incomplete"});
  add("offset 32 at alignment 64",
      GgufBytes()
          .header(1, 1)
          .key_u32("general.alignment", 64)
          .tensor("t", {4}, 0, 32)
          .pad(64)
          .pattern(64),
      {"tensor 't'", "alignment 64", "got 32"});
  add("one name twice", two().tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).pad().pattern(64),
      {"tensor 't'", "once", "1 and 2"});
  add("overlap", two().tensor("x", {16}, 0, 0).tensor("y", {8}, 0, 32).pad().pattern(96),
      {"tensor 'y'", "tensor 'x'", "overlap"});
  add("same place", two().tensor("x", {8}, 0, 32).tensor("y", {8}, 0, 32).pad().pattern(96),
      {"overlap"});
  add("empty name", one().tensor("", {4}, 0, 0).pad().pattern(16), {"name of tensor", "got 0"});
  add("name of 65 bytes", one().tensor(std::string(65, 'n'), {4}, 0, 0).pad().pattern(16),
      {"name of tensor", "at most 64", "65"});
  add("name length 2^63", one().u64(1ull << 63), {"tensor 1 of 1", "name of tensor"});
  return files;
}

namespace {

std::vector<HostileFile> all_files() {
  std::vector<HostileFile> files = hostile_metadata();
  for (HostileFile& file : hostile_tensors()) files.push_back(std::move(file));
  return files;
}

/// Bytes of this process's address space.
rlim_t address_space() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  unsigned long pages = 0;
  const int got = std::fscanf(file, "%lu", &pages);
  std::fclose(file);
  REQUIRE(got == 1);
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Runs `body` in a child that may map at most 64 MB more than this process has. Returns its exit
/// code, or -1 when a signal ended it. Under sanitizers, whose shadow memory counts, the child has
/// no limit.
template <class Body>
int run_limited(Body body) {
  const rlim_t limit = address_space() + (rlim_t{64} << 20);
  const pid_t child = ::fork();
  if (child == 0) {
#ifndef R1_TEST_HAS_SHADOW_MEMORY
    const rlimit value{limit, limit};
    if (::setrlimit(RLIMIT_AS, &value) != 0) ::_exit(99);
#else
    static_cast<void>(limit);
#endif
    ::_exit(body());
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// 0 when opening ends in an Error other than out_of_memory.
int open_in_child(const GgufBytes& image) {
  try {
    gguf::Reader::from_memory(image.span(), "test.gguf");
  } catch (const Error& error) {
    return error.code() == ErrorCode::out_of_memory ? 3 : 0;
  } catch (...) {
    return 2;
  }
  return 1;
}

}  // namespace

TEST_CASE("hostile headers end in one clear line", "[gguf][L1]") {
  for (const HostileFile& file : all_files()) {
    DYNAMIC_SECTION(file.what) {
      const Error error = open_error(file.image);
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(error.code() == file.code);
      CHECK(message.starts_with("test.gguf: "));
      CHECK(message.size() < 500);
      for (const std::string& word : file.words) CHECK_THAT(message, Catch::Contains(word));
    }
  }
}

TEST_CASE("hostile headers take little memory", "[gguf][L1]") {
  const std::vector<HostileFile> files = all_files();
  CHECK(run_limited([&] {
          for (const HostileFile& file : files) {
            const int result = open_in_child(file.image);
            if (result != 0) return result;
          }
          return 0;
        }) == 0);
}

TEST_CASE("large files of many small things take little memory", "[gguf][L1]") {
  // Honest counts, so that only the limits on names and numbers can stop them.
  GgufBytes many_keys;
  many_keys.header(0, 1 << 16);
  for (int i = 0; i < 1 << 16; ++i) many_keys.key("k" + std::to_string(i), kUint8).u8(0);
  many_keys.raw("x");
  GgufBytes long_keys;
  long_keys.header(0, 200);
  for (int i = 0; i < 200; ++i) {
    long_keys.key(std::to_string(i) + std::string(65000, 'k'), kUint8).u8(0);
  }
  GgufBytes many_tensors;
  many_tensors.header(1 << 16, 0);
  for (std::uint64_t i = 0; i < 1 << 16; ++i) {
    many_tensors.tensor("t" + std::to_string(i), {1, 1, 1, 1}, 0, i * 32);
  }
  CHECK_THAT(std::string(open_error(many_tensors).what()), Catch::Contains("incomplete"));
  CHECK_THAT(std::string(open_error(long_keys).what()), Catch::Contains("keys in total"));
  CHECK(run_limited([&] { return open_in_child(many_tensors); }) == 0);
  CHECK(run_limited([&] { return open_in_child(long_keys); }) == 0);
  CHECK(gguf::Reader::from_memory(many_keys.span(), "test.gguf").keys().size() == 1 << 16);
  CHECK(run_limited([&] { return open_in_child(many_keys); }) == 1);
}

}  // namespace r1::testing
