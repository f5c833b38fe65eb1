// A schema's text as a JSON document, with bounds on what a hostile one can cost, and the small
// checked reads that its keywords need.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "r1/error.hpp"

namespace r1::text::json {

/// Keeps the order of keys: it is the order of properties in the answer.
using Document = nlohmann::ordered_json;

/// Values of one enum, at most.
inline constexpr std::size_t kEnumMax = 10'000;

/// Parses. Throws Error{invalid_argument} for what is not JSON, is above 1 MB, has more than 10,000
/// keys or nests deeper than 256 levels.
Document read_document(std::string_view text);

/// `where` (a JSON pointer) one level on. Cut when it is long: it is for messages.
std::string join(const std::string& where, std::string_view key);

/// Throws "json_schema <where>: expected <expected>, got <got>".
[[noreturn]] void refuse(ErrorCode code, const std::string& where, std::string_view expected,
                         std::string_view got);

/// A value's short description for messages: small ones as they are, else the type.
std::string describe(const Document& value);

/// The number under `key`, `fallback` when there is none. Throws unless it is a whole number from 0
/// to 10^9.
std::uint32_t read_count(const Document& schema, const char* key, std::uint32_t fallback,
                         const std::string& where);

/// Bounds of a whole number by minimum, maximum and their exclusive forms, cut to +-kIntegerMax.
/// Throws when nothing is left.
void read_range(const Document& schema, std::int64_t& low, std::int64_t& high,
                const std::string& where);

/// The type names of `schema` ("type" as a list); empty when it has none. Throws for a name that is
/// none of JSON's.
std::vector<std::string> read_types(const Document& schema, const std::string& where);

/// True when JSON Schema says that `value` is of `type`.
bool is_of_type(const Document& value, std::string_view type);

}  // namespace r1::text::json
