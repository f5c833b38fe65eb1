// The generator draws from all keywords of docs/json-schema.md.
#include "tests/support/random_schema.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace r1::support {
namespace {

using Json = nlohmann::ordered_json;
using Random = std::mt19937_64;

bool one_in(Random& random, unsigned n) { return random() % n == 0; }

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

// Characters of one to four bytes, some of which JSON escapes.
std::string random_text(Random& random, std::int64_t characters) {
  static const std::vector<std::string> kCharacters = {"a",  "b",  "e",          "n",   "7", " ",
                                                       "\"", "\\", "\n",         "/",   "é", "²",
                                                       "鸡", "€",  "\U0001F600", "\x7F"};
  std::string text;
  for (std::int64_t i = 0; i < characters; ++i) {
    text += kCharacters[random() % kCharacters.size()];
  }
  return text;
}

std::string random_key(Random& random) { return random_text(random, between(random, 1, 3)); }

Json random_scalar(Random& random) {
  switch (random() % 5) {
    case 0:
      return random_text(random, between(random, 0, 4));
    case 1:
      return between(random, -1200, 1200);
    case 2:
      return static_cast<double>(between(random, -500, 500)) / 8;
    case 3:
      return nullptr;
    default:
      return one_in(random, 2);
  }
}

Json string_schema(Random& random) {
  Json schema = {{"type", "string"}};
  const std::int64_t least = between(random, 0, 4);
  if (one_in(random, 2)) schema["minLength"] = least;
  if (one_in(random, 2)) schema["maxLength"] = least + between(random, 0, 30);
  return schema;
}

Json integer_schema(Random& random) {
  Json schema = {{"type", "integer"}};
  const std::int64_t low = between(random, -1500, 1500);
  if (one_in(random, 2)) schema[one_in(random, 2) ? "minimum" : "exclusiveMinimum"] = low;
  if (one_in(random, 2)) {
    schema[one_in(random, 2) ? "maximum" : "exclusiveMaximum"] = low + between(random, 2, 300);
  }
  return schema;
}

Json object_schema(Random& random, int depth) {
  Json schema = {{"type", "object"}};
  Json properties = Json::object();
  Json required = Json::array();
  for (std::int64_t i = between(random, 0, 4); i > 0; --i) {
    const std::string key = random_key(random);
    if (properties.contains(key)) continue;
    properties[key] = random_schema(random, depth - 1);
    if (one_in(random, 2)) required.push_back(key);
  }
  if (!properties.empty() || one_in(random, 2)) schema["properties"] = properties;
  if (!required.empty()) schema["required"] = required;
  if (one_in(random, 4))
    schema["additionalProperties"] = false;
  else if (one_in(random, 4))
    schema["additionalProperties"] = random_schema(random, depth - 1);
  return schema;
}

Json array_schema(Random& random, int depth) {
  Json schema = {{"type", "array"}};
  std::int64_t most = 9;
  if (one_in(random, 3)) {
    for (std::int64_t i = between(random, 1, 3); i > 0; --i) {
      schema["prefixItems"].push_back(random_schema(random, depth - 1));
    }
    most = static_cast<std::int64_t>(schema["prefixItems"].size());
  }
  if (one_in(random, 2)) {
    schema["items"] = random_schema(random, depth - 1);
    most = 9;
  }
  const std::int64_t least = between(random, 0, std::min<std::int64_t>(most, 3));
  if (one_in(random, 2)) schema["minItems"] = least;
  if (one_in(random, 2)) schema["maxItems"] = least + between(random, 0, 3);
  return schema;
}

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string random_object(Random& random, const Json& root, const Json& schema, int depth) {
  std::string document;
  const auto add = [&](const std::string& key, const Json& value) {
    document += document.empty() ? "{" : ",";
    document += quoted(key) + ":" + random_document(random, root, value, depth + 1);
  };
  const Json required = schema.value("required", Json::array());
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, value] : properties.items()) {
    const bool must = std::find(required.begin(), required.end(), key) != required.end();
    if (must || (depth < 5 && one_in(random, 2))) add(key, value);
  }
  const bool closed = schema.contains("properties") || schema.contains("required");
  const Json others = schema.value("additionalProperties", Json(!closed));
  if (others != Json(false) && depth < 5) {
    for (std::int64_t i = between(random, 0, 2); i > 0; --i) {
      const std::string key = "x" + std::to_string(i);
      if (!properties.contains(key)) add(key, others);
    }
  }
  return document.empty() ? "{}" : document + "}";
}

std::string random_array(Random& random, const Json& root, const Json& schema, int depth) {
  const Json prefix = schema.value("prefixItems", Json::array());
  const bool closed = schema.contains("prefixItems") && !schema.contains("items");
  const Json rest = schema.value("items", Json(true));
  std::int64_t least = schema.value("minItems", 0);
  std::int64_t most = schema.value("maxItems", least + 3);
  if (closed) most = std::min(most, static_cast<std::int64_t>(prefix.size()));
  if (depth >= 5) most = least;
  std::string document;
  const std::int64_t size = between(random, least, most);
  for (std::int64_t i = 0; i < size; ++i) {
    document += document.empty() ? "[" : ",";
    const auto place = static_cast<std::size_t>(i);
    document +=
        random_document(random, root, place < prefix.size() ? prefix[place] : rest, depth + 1);
  }
  return document.empty() ? "[]" : document + "]";
}

std::string random_integer(Random& random, const Json& schema) {
  std::int64_t low = std::max(schema.value("minimum", std::int64_t{-100'000}),
                              schema.value("exclusiveMinimum", std::int64_t{-100'001}) + 1);
  std::int64_t high = std::min(schema.value("maximum", std::int64_t{100'000}),
                               schema.value("exclusiveMaximum", std::int64_t{100'001}) - 1);
  return std::to_string(between(random, low, high));
}

}  // namespace

std::string named_schema(const std::string& name) {
  std::ifstream file(std::string(R1_SOURCE_DIR) + "/tests/data/schemas/" + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

Json random_schema(Random& random, int depth) {
  switch (random() % (depth > 0 ? 11U : 6U)) {
    case 0:
      return string_schema(random);
    case 1:
      return integer_schema(random);
    case 2:
      return {{"type", "number"}};
    case 3: {
      Json schema;
      for (std::int64_t i = between(random, 1, 5); i > 0; --i) {
        schema["enum"].push_back(random_scalar(random));
      }
      return schema;
    }
    case 4:
      return {{"const", random_scalar(random)}};
    case 5:
      return {{"type", Json::array({"boolean", "null", "string"})}};
    case 6: {
      Json schema;
      for (std::int64_t i = between(random, 1, 3); i > 0; --i) {
        schema["anyOf"].push_back(random_schema(random, depth - 1));
      }
      return schema;
    }
    case 7:
    case 8:
      return array_schema(random, depth);
    default:
      return object_schema(random, depth);
  }
}

std::string random_document(Random& random, const Json& root, const Json& schema, int depth) {
  if (schema.is_boolean()) return random_scalar(random).dump();
  if (schema.contains("$ref")) {
    const auto pointer = schema["$ref"].get<std::string>().substr(1);
    return random_document(random, root, root.at(Json::json_pointer(pointer)), depth);
  }
  for (const char* word : {"anyOf", "oneOf", "allOf"}) {
    if (!schema.contains(word)) continue;
    const Json& list = schema[word];
    return random_document(random, root, list[random() % list.size()], depth);
  }
  if (schema.contains("const")) return schema["const"].dump();
  if (schema.contains("enum")) return schema["enum"][random() % schema["enum"].size()].dump();
  const Json& types = schema["type"];
  const std::string type = types.is_array() ? types[random() % types.size()] : types;
  if (type == "object") return random_object(random, root, schema, depth);
  if (type == "array") return random_array(random, root, schema, depth);
  if (type == "integer") return random_integer(random, schema);
  if (type == "null") return "null";
  if (type == "boolean") return one_in(random, 2) ? "true" : "false";
  if (type == "number") {
    return Json(static_cast<double>(between(random, -5000, 5000)) / 16).dump();
  }
  const std::int64_t least = schema.value("minLength", std::int64_t{0});
  const std::int64_t most = schema.value("maxLength", least + 6);
  return quoted(random_text(random, between(random, least, most)));
}

}  // namespace r1::support
