// The machine against a checker of schemas that shares nothing with it, both ways: what it takes
// satisfies the schema, and it takes what satisfies the schema.
#include "libr1/text/json/machine.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "libr1/text/json/schema.hpp"
#include "tests/support/random_schema.hpp"
#include "tests/support/schema_check.hpp"

using nlohmann::ordered_json;
using r1::text::json::Frame;
using r1::text::json::Machine;

namespace {

/// One document byte by byte.
class Reading {
 public:
  explicit Reading(const std::string& schema)
      : machine_(std::make_shared<r1::text::json::Grammar>(r1::text::json::parse_schema(schema))),
        places_{machine_.start()} {}

  bool take(char byte) {
    std::vector<Frame> next;
    const std::size_t levels = machine_.levels();
    for (const Frame& place : places_) {
      machine_.step(place, static_cast<std::uint8_t>(byte), next, 0);
    }
    if (next.empty()) return false;
    places_ = next;
    machine_.merge_levels(levels, places_);
    return true;
  }
  bool take_all(const std::string& text) {
    for (const char byte : text) {
      if (!take(byte)) return false;
    }
    return true;
  }
  bool may_end() const {
    for (const Frame& place : places_) {
      if (machine_.may_end(place)) return true;
    }
    return false;
  }

 private:
  Machine machine_;
  std::vector<Frame> places_;
};

bool accepts(const std::string& schema, const std::string& document) {
  Reading reading(schema);
  return reading.take_all(document) && reading.may_end();
}

bool in_string(const std::string& document) {
  bool inside = false;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (inside && document[i] == '\\') {
      ++i;
    } else if (document[i] == '"') {
      inside = !inside;
    }
  }
  return inside;
}

// A random document of the machine's own: any byte that it takes, then what ends soonest.
std::string random_walk(std::mt19937_64& random, const std::string& schema, int length) {
  Reading reading(schema);
  std::string document;
  for (int i = 0; i < length && !(reading.may_end() && random() % 4 == 0); ++i) {
    // Structure more often than chance would have it.
    std::string bytes = "\"\"{}[]:,,0123456789-.e truefalsn\\u\n";
    for (int extra = 0; extra < 400; ++extra) bytes += static_cast<char>(random());
    std::shuffle(bytes.begin(), bytes.end(), random);
    for (const char byte : bytes) {
      if (!reading.take(byte)) continue;
      document += byte;
      break;
    }
  }
  std::string bytes = "0a1234567893:\\u\xA0\x90\x80";
  for (int byte = 0x21; byte < 256; ++byte) {
    if (byte != ',') bytes += static_cast<char>(byte);
  }
  bytes += ", ";
  for (int i = 0; i < 5000 && !reading.may_end(); ++i) {
    for (const char byte : (in_string(document) ? "\"" : "}]\"") + bytes) {
      if (!reading.take(byte)) continue;
      document += byte;
      break;
    }
  }
  INFO(document);
  REQUIRE(reading.may_end());
  return document;
}

void check_both_ways(std::mt19937_64& random, const ordered_json& schema, int rounds) {
  const std::string text = schema.dump();
  INFO(text);
  for (int i = 0; i < rounds; ++i) {
    const std::string given = r1::support::random_document(random, schema, schema);
    INFO(given);
    REQUIRE(r1::support::satisfies(schema, schema, ordered_json::parse(given)));
    REQUIRE(accepts(text, given));
    const std::string walked = random_walk(random, text, 1 + static_cast<int>(random() % 120));
    INFO(walked);
    REQUIRE(ordered_json::accept(walked));
    REQUIRE(r1::support::satisfies(schema, schema, ordered_json::parse(walked)));
  }
}

}  // namespace

TEST_CASE("json machine: the named schemas, both ways") {
  std::mt19937_64 random(1);
  for (const std::string& name : r1::support::kNamedSchemas) {
    INFO(name);
    check_both_ways(random, ordered_json::parse(r1::support::named_schema(name)), 60);
  }
}

TEST_CASE("json machine: random schemas, both ways") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    check_both_ways(random, r1::support::random_schema(random, 3), 3);
  }
}

TEST_CASE("json machine: a broken document is refused at the byte that breaks it") {
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const ordered_json schema = r1::support::random_schema(random, 3);
    std::string document = r1::support::random_document(random, schema, schema);
    document[random() % document.size()] = "\"{}[]:,0-e\\ \n"[random() % 13];
    const bool taken = accepts(schema.dump(), document);
    INFO(schema.dump() << '\n' << document);
    if (taken) {
      REQUIRE(ordered_json::accept(document));
      REQUIRE(r1::support::satisfies(schema, schema, ordered_json::parse(document)));
    } else {
      ++refused;
    }
  }
  REQUIRE(refused > 500);
}

TEST_CASE("json machine: white space is allowed where people write it, and never without end") {
  const std::string schema =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"const": 1}}},
          "required": ["a", "b"]})";
  CHECK(accepts(schema, R"({"a":1,"b":[1,1]})"));
  CHECK(accepts(schema, R"({"a": 1, "b": [1, 1]})"));
  CHECK(accepts(schema, R"({ "a": 1, "b": [ 1, 1 ] })"));
  CHECK(accepts(schema, "\n\n{\n  \"a\": 1,\n  \"b\": [\n    1,\n    1\n  ]\n}"));
  CHECK(accepts(schema, "{\"a\": 1, \"b\": []}"));
  CHECK_FALSE(accepts(schema, "{\"a\":  1, \"b\": []}"));
  CHECK_FALSE(accepts(schema, "{\"a\" : 1, \"b\": []}"));
  CHECK_FALSE(accepts(schema, "{\n\n\"a\": 1, \"b\": []}"));
  CHECK_FALSE(accepts(schema, "{\"a\": 1, \"b\": []} "));
  CHECK_FALSE(accepts(schema, "\n\n\n{\"a\": 1, \"b\": []}"));
  CHECK(accepts(schema, "{\n" + std::string(32, ' ') + "\"a\":1,\"b\":[]}"));
  CHECK_FALSE(accepts(schema, "{\n" + std::string(33, ' ') + "\"a\":1,\"b\":[]}"));
}

TEST_CASE("json machine: the order of properties, and keys beside them") {
  const std::string closed =
      R"({"properties": {"b": true, "a": true, "c": true}, "required": ["a"]})";
  CHECK(accepts(closed, R"({"b":1,"a":2,"c":3})"));
  CHECK(accepts(closed, R"({"a":2})"));
  CHECK(accepts(closed, R"({"a":2,"c":3})"));
  CHECK_FALSE(accepts(closed, R"({"a":2,"b":1})"));
  CHECK_FALSE(accepts(closed, R"({"b":1})"));
  CHECK_FALSE(accepts(closed, R"({"b":1,"c":3})"));
  CHECK_FALSE(accepts(closed, R"({"a":2,"a":2})"));
  CHECK_FALSE(accepts(closed, R"({"a":2,"d":1})"));
  const std::string open =
      R"({"properties": {"a\"b": {"type": "null"}, "ab": {"type": "null"}},
          "additionalProperties": {"type": "integer"}})";
  CHECK(accepts(open, R"({"a\"b":null,"x":1,"a":2,"abc":3})"));
  CHECK(accepts(open, R"({"":1})"));
  CHECK_FALSE(accepts(open, R"({"ab":1})"));
  CHECK_FALSE(accepts(open, R"({"a\"b":1})"));
  CHECK_FALSE(accepts(open, R"({"\u0061b":1})"));
  CHECK_FALSE(accepts(open, R"({"x":1,"ab":null})"));
}

TEST_CASE("json machine: nesting ends at 64 levels, and what is open can be closed") {
  const std::string any = "{}";
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(accepts(any, nested(64)));
  CHECK_FALSE(accepts(any, nested(65)));
  // Each level needs a member that nests once more: the last may be opened only where it fits.
  const std::string schema = R"({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object",
      "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"type": "array", "items": {"type": "array",
      "minItems": 1, "items": {"type": "array"}}, "minItems": 1}}, "required": ["y"]}}})";
  Reading reading(schema);
  int levels = 0;
  while (reading.take_all("{\"x\":")) ++levels;
  CHECK(levels == 60);  // y takes three more beside the object that it is in
}

TEST_CASE("json machine: readings are kept apart until they differ") {
  const std::string schema = R"({"anyOf": [
      {"properties": {"k": {"type": "string"}, "n": {"type": "integer"}}, "required": ["k", "n"]},
      {"properties": {"k": {"type": "string"}, "n": {"type": "null"}}, "required": ["k", "n"]}]})";
  CHECK(accepts(schema, R"({"k":"x","n":1})"));
  CHECK(accepts(schema, R"({"k":"x","n":null})"));
  CHECK_FALSE(accepts(schema, R"({"k":"x","n":"1"})"));
}
