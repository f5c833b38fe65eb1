// Whether a JSON value satisfies a JSON Schema, the slow and plain way: by recursion over the
// parsed value, with the meaning of the standard (what is not said is open). It shares nothing with
// the library.
#pragma once

#include <nlohmann/json.hpp>

namespace r1::support {

/// Checks `value` against `schema`, a part of `root`. Understands the keywords of
/// docs/json-schema.md.
bool satisfies(const nlohmann::ordered_json& root, const nlohmann::ordered_json& schema,
               const nlohmann::ordered_json& value);

}  // namespace r1::support
