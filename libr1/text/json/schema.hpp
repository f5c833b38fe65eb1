// From the text of a JSON Schema to rules over bytes; docs/json-schema.md lists what is understood.
#pragma once

#include <string_view>

#include "libr1/text/json/grammar.hpp"

namespace r1::text::json {

/// The rules of a schema (JSON Schema 2020-12, a subset), complete. Everything that the rules allow
/// satisfies the schema. Time and memory are bounded whatever the text. Throws
/// Error{invalid_argument} for what is no schema or cannot be satisfied, Error{unsupported} for a
/// keyword that is not understood; both name the place as a JSON pointer.
Grammar parse_schema(std::string_view schema);

/// The rules of any JSON object (what OpenAI calls json_object).
Grammar any_object();

}  // namespace r1::text::json
