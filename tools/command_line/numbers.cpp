// Strict, locale-independent numbers with error messages that say what is accepted.
#include "tools/command_line/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

/// The whole of `text` as a T; std::from_chars takes no leading plus, people do.
template <typename T>
std::optional<T> whole(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t min,
                           std::int64_t max) {
  const auto value = whole<std::int64_t>(text);
  if (value && *value >= min && *value <= max) return *value;
  if (max == std::numeric_limits<std::int64_t>::max()) {
    throw UsageError(
        fmt::format("{}: expected an integer of at least {}, got '{}'", option, min, text));
  }
  throw UsageError(
      fmt::format("{}: expected an integer from {} to {}, got '{}'", option, min, max, text));
}

std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_integer(option, text.substr(begin, end - begin), min, max));
    begin = end + 1;
  }
  return values;
}

float parse_number(std::string_view option, std::string_view text, double min, double max) {
  const auto value = whole<double>(text);
  // NaN fails both comparisons.
  if (value && *value >= min && *value <= max) return static_cast<float>(*value);
  throw UsageError(
      fmt::format("{}: expected a number from {} to {}, got '{}'", option, min, max, text));
}

std::optional<std::uint64_t> parse_seed(std::string_view option, std::string_view text) {
  if (const auto value = whole<std::uint64_t>(text)) return value;
  const auto negative = whole<std::int64_t>(text);
  if (negative && *negative < 0) return std::nullopt;
  throw UsageError(fmt::format(
      "{}: expected an integer below 2^64, or -1 for a random one, got '{}'", option, text));
}

std::pair<r1::TokenId, float> parse_logit_bias(std::string_view option, std::string_view text) {
  const std::size_t sign = text.find_first_of("=+-", 1);
  if (text.empty() || sign == std::string_view::npos) {
    throw UsageError(fmt::format("{}: expected ID=BIAS, got '{}'", option, text));
  }
  const auto id =
      parse_integer(option, text.substr(0, sign), 0, std::numeric_limits<r1::TokenId>::max());
  const auto bias = text.substr(text[sign] == '=' ? sign + 1 : sign);
  return {static_cast<r1::TokenId>(id), parse_number(option, bias, -1e30, 1e30)};
}

}  // namespace r1_tools
