// The generators against vectors published with them.
#include "libr1/sampling/random.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

using r1::sampling::Random;

TEST_CASE("splitmix64 gives the published numbers") {
  std::uint64_t state = 1234567;  // rosettacode.org, "Pseudo-random numbers/Splitmix64"
  for (const std::uint64_t expected :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
        16408922859458223821U}) {
    CHECK(r1::sampling::splitmix64(state) == expected);
  }
}

TEST_CASE("xoshiro256** gives the numbers of the reference implementation") {
  // State {1, 2, 3, 4}; the test vector of the rand_xoshiro crate, made with the authors' C code.
  Random random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  const std::uint64_t expected_numbers[] = {11520U,
                                            0U,
                                            1509978240U,
                                            1215971899390074240U,
                                            1216172134540287360U,
                                            607988272756665600U,
                                            16172922978634559625U,
                                            8476171486693032832U,
                                            10595114339597558777U,
                                            2904607092377533576U};
  for (const std::uint64_t expected : expected_numbers) CHECK(random.next() == expected);
}

TEST_CASE("every bit of the seed counts") {
  std::set<std::uint64_t> firsts;
  firsts.insert(Random(0).next());
  for (int bit = 0; bit < 64; ++bit) firsts.insert(Random(std::uint64_t{1} << bit).next());
  firsts.insert(Random(~std::uint64_t{0}).next());
  CHECK(firsts.size() == 66);
}

TEST_CASE("next53 fills [0, 2^53) evenly") {
  Random random(7);
  int bins[16] = {};
  for (int i = 0; i < 160000; ++i) {
    const std::uint64_t value = random.next53();
    REQUIRE(value < std::uint64_t{1} << 53);
    ++bins[value >> 49];
  }
  double chi_square = 0;
  for (const int count : bins) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  CHECK(chi_square < 37.7);  // 15 degrees of freedom, 0.1 %
}
