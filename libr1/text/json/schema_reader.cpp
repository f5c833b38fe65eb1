// Bounds are held while parsing: objects that keep their order find keys by searching, so a hundred
// thousand keys would take seconds.
#include "libr1/text/json/schema_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libr1/text/json/grammar.hpp"
#include "libr1/text/utf8.hpp"

namespace r1::text::json {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;
constexpr int kNestingMax = 256;
constexpr int kKeysMax = 10'000;
constexpr double kCountMax = 1e9;
constexpr std::size_t kWhereMax = 200;

constexpr std::array<std::string_view, 7> kTypes = {"string", "number", "integer", "boolean",
                                                    "null",   "object", "array"};

/// The value under `key`, which is a number, or NaN.
double read_bound(const Document& schema, const char* key, const std::string& where) {
  const auto found = schema.find(key);
  if (found == schema.end()) return std::nan("");
  if (!found->is_number()) {
    refuse(ErrorCode::invalid_argument, join(where, key), "a number", describe(*found));
  }
  return found->get<double>();
}

/// Whole numbers of more than 53 bits are rounded by a double; they stay exact here.
std::int64_t exact(const Document& schema, const char* key, double rounded) {
  if (std::abs(rounded) >= static_cast<double>(kIntegerMax)) {
    return rounded < 0 ? -kIntegerMax : kIntegerMax;
  }
  const Document& value = schema.at(key);
  return value.is_number_integer() ? value.get<std::int64_t>() : static_cast<std::int64_t>(rounded);
}

}  // namespace

Document read_document(std::string_view text) {
  if (text.size() > kBytesMax) {
    refuse(ErrorCode::invalid_argument, "#", fmt::format("at most {} bytes", kBytesMax),
           std::to_string(text.size()));
  }
  int keys = 0;
  const auto check = [&](int depth, Document::parse_event_t event, const Document&) {
    if (depth > kNestingMax) {
      refuse(ErrorCode::invalid_argument, "#", fmt::format("at most {} levels", kNestingMax),
             "more");
    }
    if (event == Document::parse_event_t::key && ++keys > kKeysMax) {
      refuse(ErrorCode::invalid_argument, "#", fmt::format("at most {} keys", kKeysMax), "more");
    }
    return true;
  };
  try {
    return Document::parse(text.begin(), text.end(), check);
  } catch (const Document::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    std::string_view reason = error.what();
    reason.remove_prefix(std::min(reason.size(), reason.find("] ") + 2));
    refuse(ErrorCode::invalid_argument, "#", "JSON", printable(reason));
  }
}

std::string join(const std::string& where, std::string_view key) {
  if (where.size() > kWhereMax) return where;
  return fmt::format("{}/{}", where, printable(key));
}

void refuse(ErrorCode code, const std::string& where, std::string_view expected,
            std::string_view got) {
  throw Error(code, fmt::format("json_schema {}: expected {}, got {}", where, expected, got));
}

std::string describe(const Document& value) {
  if (value.is_object() || value.is_array()) return value.type_name();
  return printable(value.dump());
}

std::uint32_t read_count(const Document& schema, const char* key, std::uint32_t fallback,
                         const std::string& where) {
  const double value = read_bound(schema, key, where);
  if (std::isnan(value)) return fallback;
  if (!(value >= 0 && value <= kCountMax) || value != std::floor(value)) {
    refuse(ErrorCode::invalid_argument, join(where, key), "a whole number from 0 to 10^9",
           describe(schema.at(key)));
  }
  return static_cast<std::uint32_t>(value);
}

void read_range(const Document& schema, std::int64_t& low, std::int64_t& high,
                const std::string& where) {
  low = -kIntegerMax;
  high = kIntegerMax;
  // A comparison with NaN, for a keyword that is not there, is false.
  const auto at_least = [&](const char* key, bool exclusive) {
    const double bound = read_bound(schema, key, where);
    if (std::isnan(bound)) return;
    const std::int64_t up = exact(schema, key, std::ceil(bound));
    low = std::max(low, exclusive && static_cast<double>(up) == bound ? up + 1 : up);
  };
  const auto at_most = [&](const char* key, bool exclusive) {
    const double bound = read_bound(schema, key, where);
    if (std::isnan(bound)) return;
    const std::int64_t down = exact(schema, key, std::floor(bound));
    high = std::min(high, exclusive && static_cast<double>(down) == bound ? down - 1 : down);
  };
  at_least("minimum", false);
  at_least("exclusiveMinimum", true);
  at_most("maximum", false);
  at_most("exclusiveMaximum", true);
  if (low > high || low > kIntegerMax || high < -kIntegerMax) {
    refuse(ErrorCode::invalid_argument, where, "a whole number within the bounds", "none");
  }
}

std::vector<std::string> read_types(const Document& schema, const std::string& where) {
  const auto found = schema.find("type");
  if (found == schema.end()) return {};
  std::vector<std::string> types;
  const auto add = [&](const Document& name) {
    if (!name.is_string() || std::find(kTypes.begin(), kTypes.end(),
                                       name.get_ref<const std::string&>()) == kTypes.end()) {
      refuse(ErrorCode::invalid_argument, join(where, "type"), "JSON types", describe(name));
    }
    const std::string& type = name.get_ref<const std::string&>();
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  };
  if (!found->is_array()) {
    add(*found);
    return types;
  }
  for (const Document& name : *found) add(name);
  if (types.empty()) {
    refuse(ErrorCode::invalid_argument, join(where, "type"), "at least one type", "none");
  }
  return types;
}

bool is_of_type(const Document& value, std::string_view type) {
  if (type == "integer") {
    return value.is_number_integer() ||
           (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
  }
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  return type == "object" ? value.is_object() : value.is_array();
}

}  // namespace r1::text::json
