// JSON schemas for tests: the five of tests/data/schemas, and random ones, with random documents
// that satisfy them in the form that the library writes.
#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace r1::support {

/// Names of the schemas of tests/data/schemas.
inline const std::vector<std::string> kNamedSchemas = {"contact", "invoice", "tree", "tool_call",
                                                       "quiz"};

/// The text of one of them.
std::string named_schema(const std::string& name);

/// A schema that can be satisfied, of at most about `depth` levels below references.
nlohmann::ordered_json random_schema(std::mt19937_64& random, int depth);

/// A document that satisfies `schema` (a part of `root`): compact, properties in the schema's
/// order, no keys beside those named unless the schema has none.
std::string random_document(std::mt19937_64& random, const nlohmann::ordered_json& root,
                            const nlohmann::ordered_json& schema, int depth = 0);

}  // namespace r1::support
