// What is refused, with which words; what a hostile schema can cost.
#include "libr1/text/json/schema.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "r1/error.hpp"
#include "tests/support/random_schema.hpp"

using r1::Error;
using r1::ErrorCode;
using r1::text::json::parse_schema;

namespace {

/// The error of a schema, as "<code>: <message>".
std::string error_of(const std::string& schema) {
  try {
    parse_schema(schema);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return (error.code() == ErrorCode::unsupported ? "unsupported: " : "invalid: ") +
           std::string(error.what());
  }
  return "none";
}

std::string repeated(const std::string& unit, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += unit;
  return text;
}

}  // namespace

TEST_CASE("json schema: an unsupported keyword is an error that names it and its place") {
  for (const char* word :
       {"pattern", "format", "patternProperties", "not", "if", "uniqueItems", "multipleOf",
        "minProperties", "propertyNames", "contains", "nonsense"}) {
    const std::string message =
        error_of(R"({"properties": {"a": {"type": "string", ")" + std::string(word) + "\": 1}}}");
    INFO(message);
    CHECK(message.starts_with("unsupported: json_schema #/properties/a: expected"));
    CHECK(message.find('"' + std::string(word) + '"') != std::string::npos);
  }
}

TEST_CASE("json schema: what is wrong is refused by name") {
  const auto refused = [](const std::string& schema, const std::string& part) {
    INFO(schema);
    CHECK_THAT(error_of(schema), Catch::Contains(part));
  };
  refused("", "invalid: json_schema #: expected JSON");
  refused("{\"type\": ", "invalid: json_schema #: expected JSON");
  refused("[]", "expected a schema (an object or a boolean), got array");
  refused(R"({"type": "strin"})", "#/type: expected JSON types, got \"strin\"");
  refused(R"({"type": []})", "#/type: expected at least one type");
  refused(R"({"type": "string", "minLength": 3, "maxLength": 2})", "minLength <= maxLength");
  refused(R"({"type": "string", "minLength": -1})", "#/minLength: expected a whole number");
  refused(R"({"type": "integer", "minimum": 2, "maximum": 1})", "within the bounds, got none");
  refused(R"({"type": "number", "minimum": 2})", "unsupported: json_schema #: expected bounds of");
  refused(R"({"prefixItems": [true], "minItems": 2})", "minItems of at most 1, got 2");
  refused(R"({"required": ["a"], "additionalProperties": false})", "#/required: expected keys of");
  refused(R"({"$ref": "#/$defs/none"})", "#/$ref: expected a place in this schema");
  refused(R"({"$ref": "other.json"})", "unsupported: json_schema #/$ref");
  refused(R"({"$ref": "#", "type": "object"})", "beside $ref, got \"type\"");
  refused(R"({"anyOf": [true], "type": "object"})", "beside anyOf, got \"type\"");
  refused(R"({"anyOf": []})", "#/anyOf: expected a list of schemas");
  refused(R"({"allOf": [true, true]})", "unsupported: json_schema #/allOf");
  refused(R"({"enum": 3})", "#/enum: expected a list of values, got 3");
  refused("false", "a document of at most 64 levels");
  refused(R"({"enum": [1], "type": "string"})", "a document of at most 64 levels");
}

TEST_CASE("json schema: one of several holds only where they cannot both") {
  CHECK(error_of(R"({"oneOf": [{"type": "string"}, {"type": "null"}, {"const": 3}]})") == "none");
  CHECK(error_of(R"({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["c"]}]})") == "none");
  CHECK(error_of(r1::support::named_schema("tool_call")) == "none");
  for (const char* schema :
       {R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})",
        R"({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b"]}]})",
        R"({"oneOf": [{"const": 1}, {"const": 1.0}]})",
        R"({"oneOf": [{"type": "string"}, {"properties": {"a": true}}]})",
        R"({"oneOf": [{"type": "string"}, {"const": "x"}]})",
        R"({"oneOf": [{"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]},
                      {"type": "object", "properties": {"k": {"const": "1"}}}]})"}) {
    INFO(schema);
    CHECK_THAT(error_of(schema), Catch::Contains("#/oneOf: expected alternatives that differ"));
  }
}

TEST_CASE("json schema: circles end") {
  CHECK_THAT(error_of(R"({"$ref": "#"})"), Catch::Contains("a $ref that ends"));
  CHECK_THAT(
      error_of(
          R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})"),
      Catch::Contains("a $ref that ends"));
  CHECK_THAT(error_of(R"({"anyOf": [{"$ref": "#"}]})"), Catch::Contains("at most 64 levels"));
  CHECK_THAT(error_of(R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})"),
             Catch::Contains("at most 64 levels"));
  CHECK(error_of(R"({"properties": {"a": {"$ref": "#"}}})") == "none");
  CHECK(error_of(R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})") == "none");
}

TEST_CASE("json schema: hostile ones end in an error") {
  CHECK(error_of(repeated("[", 10'000)).starts_with("invalid"));
  CHECK(error_of(repeated("{\"items\":", 10'000)).starts_with("invalid"));
  CHECK(error_of(repeated("{\"items\":", 300) + "{}" + repeated("}", 300)).starts_with("invalid"));
  CHECK(error_of(std::string(2'000'000, ' ')).starts_with("invalid"));
  CHECK(error_of("{\"enum\": [" + repeated("1,", 20'000) + "1]}").starts_with("invalid"));
  std::string keys = "{\"properties\": {\"a\": true";
  for (int i = 0; i < 20'000; ++i) keys += ",\"k" + std::to_string(i) + "\": true";
  CHECK(error_of(keys + "}}").starts_with("invalid"));
  CHECK(error_of("{\"anyOf\": [{\"type\":\"null\"}" + repeated(",{\"type\":\"null\"}", 64) + "]}")
            .starts_with("invalid"));
  // Long chains of references are no recursion.
  std::string chain = "{\"$ref\": \"#/$defs/d0\", \"$defs\": {";
  for (int i = 0; i < 3000; ++i) {
    chain += "\"d" + std::to_string(i) + "\": {\"anyOf\": [{\"$ref\": \"#/$defs/d" +
             std::to_string(i + 1) + "\"}]},";
  }
  CHECK(error_of(chain + "\"d3000\": true}}").starts_with("invalid"));
}

TEST_CASE("json schema: damaged schemas are refused or understood, never more") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string schema = r1::support::random_schema(random, 3).dump();
    for (auto i = 1 + random() % 3; i > 0; --i) {
      schema[random() % schema.size()] = static_cast<char>(random());
    }
    CHECK(!error_of(schema).empty());
  }
}
