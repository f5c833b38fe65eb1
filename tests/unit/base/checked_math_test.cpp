// Checked arithmetic at the edges of its types, and 64-bit row offsets (case K6).
#include "libr1/base/checked_math.hpp"

#include <catch2/catch.hpp>
#include <limits>

namespace r1::base {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kUnsignedMax = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("sums that do not fit are nothing", "[base]") {
  CHECK(checked_add<std::int64_t>(kMax - 1, 1) == kMax);
  CHECK_FALSE(checked_add<std::int64_t>(kMax, 1));
  CHECK_FALSE(checked_add<std::int64_t>(kMin, -1));
  CHECK(checked_add<std::uint64_t>(kUnsignedMax - 32, 32) == kUnsignedMax);
  CHECK_FALSE(checked_add<std::uint64_t>(kUnsignedMax - 31, 32));
  CHECK_FALSE(checked_add<std::uint8_t>(200, 56));
}

TEST_CASE("products that do not fit are nothing", "[base]") {
  CHECK(checked_mul<std::int64_t>(1ll << 31, 1ll << 31) == 1ll << 62);
  CHECK_FALSE(checked_mul<std::int64_t>(1ll << 31, 1ll << 32));
  CHECK_FALSE(checked_mul<std::int64_t>((1ll << 62) + 1, 4));
  CHECK_FALSE(checked_mul<std::uint64_t>(1ull << 61, 8));
  CHECK_FALSE(checked_mul<std::int64_t>(kMin, -1));
  CHECK(checked_mul<std::int64_t>(0, kMax) == 0);
  CHECK_FALSE(checked_mul<std::int32_t>(14135, 151936));
}

TEST_CASE("conversions that do not fit are nothing", "[base]") {
  CHECK(checked_cast<std::int64_t>(std::uint64_t{1} << 62) == std::int64_t{1} << 62);
  CHECK_FALSE(checked_cast<std::int64_t>(std::uint64_t{1} << 63));
  CHECK_FALSE(checked_cast<std::uint64_t>(std::int64_t{-1}));
  CHECK_FALSE(checked_cast<std::uint32_t>(std::int64_t{1} << 32));
}

TEST_CASE("rounding up to an alignment", "[base]") {
  CHECK(checked_align_up<std::int64_t>(0, 32) == 0);
  CHECK(checked_align_up<std::int64_t>(1, 32) == 32);
  CHECK(checked_align_up<std::int64_t>(32, 32) == 32);
  CHECK(checked_align_up<std::int64_t>(33, 32) == 64);
  CHECK(checked_align_up<std::int64_t>(kMax - 31, 32) == kMax - 31);
  CHECK_FALSE(checked_align_up<std::int64_t>(kMax - 30, 32));
  CHECK_FALSE(checked_align_up<std::uint64_t>(kUnsignedMax, 8));
}

TEST_CASE("powers of two", "[base]") {
  CHECK_FALSE(is_power_of_two(0u));
  CHECK(is_power_of_two(1u));
  CHECK_FALSE(is_power_of_two(3u));
  CHECK(is_power_of_two(std::uint64_t{1} << 63));
  CHECK_FALSE(is_power_of_two(kUnsignedMax));
}

TEST_CASE("row offsets pass 2^31", "[base][K6]") {
  CHECK(row_offset(14134, 151936) == 2147463424);
  CHECK(row_offset(14135, 151936) == 2147615360);
  CHECK(row_offset(40000, 152064) == 6082560000);
}

}  // namespace r1::base
