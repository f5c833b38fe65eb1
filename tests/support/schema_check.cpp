// One keyword after the other; each holds of values of other types.
#include "tests/support/schema_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace r1::support {
namespace {

using Json = nlohmann::ordered_json;

bool is_integer(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "integer") return is_integer(value);
  if (type == "number") return value.is_number();
  return value.type_name() == type;
}

bool type_holds(const Json& schema, const Json& value) {
  if (!schema.contains("type")) return true;
  const Json& type = schema["type"];
  if (type.is_string()) return has_type(value, type);
  return std::any_of(type.begin(), type.end(), [&](const Json& t) { return has_type(value, t); });
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

bool bounds_hold(const Json& schema, const Json& value) {
  const auto most = [&](const char* key, double size) {
    return !schema.contains(key) || size <= schema[key].get<double>();
  };
  const auto least = [&](const char* key, double size) {
    return !schema.contains(key) || size >= schema[key].get<double>();
  };
  if (value.is_string()) {
    const auto size = static_cast<double>(characters(value.get<std::string>()));
    return least("minLength", size) && most("maxLength", size);
  }
  if (value.is_array()) {
    const auto size = static_cast<double>(value.size());
    return least("minItems", size) && most("maxItems", size);
  }
  if (!value.is_number()) return true;
  const auto number = value.get<double>();
  return least("minimum", number) && most("maximum", number) &&
         (!schema.contains("exclusiveMinimum") || number > schema["exclusiveMinimum"]) &&
         (!schema.contains("exclusiveMaximum") || number < schema["exclusiveMaximum"]);
}

bool object_holds(const Json& root, const Json& schema, const Json& value) {
  if (schema.contains("required")) {
    for (const Json& key : schema["required"]) {
      if (!value.contains(key.get<std::string>())) return false;
    }
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, member] : value.items()) {
    if (properties.contains(key)) {
      if (!satisfies(root, properties[key], member)) return false;
    } else if (schema.contains("additionalProperties") &&
               !satisfies(root, schema["additionalProperties"], member)) {
      return false;
    }
  }
  return true;
}

bool array_holds(const Json& root, const Json& schema, const Json& value) {
  const Json prefix = schema.value("prefixItems", Json::array());
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i < prefix.size()) {
      if (!satisfies(root, prefix[i], value[i])) return false;
    } else if (schema.contains("items") && !satisfies(root, schema["items"], value[i])) {
      return false;
    }
  }
  return true;
}

long count_satisfied(const Json& root, const Json& schemas, const Json& value) {
  return std::count_if(schemas.begin(), schemas.end(),
                       [&](const Json& schema) { return satisfies(root, schema, value); });
}

}  // namespace

bool satisfies(const Json& root, const Json& schema, const Json& value) {
  if (schema.is_boolean()) return schema.get<bool>();
  if (schema.contains("$ref")) {
    const auto pointer = schema["$ref"].get<std::string>().substr(1);
    if (!satisfies(root, root.at(Json::json_pointer(pointer)), value)) return false;
  }
  if (schema.contains("const") && value != schema["const"]) return false;
  if (schema.contains("enum")) {
    const Json& values = schema["enum"];
    if (std::find(values.begin(), values.end(), value) == values.end()) return false;
  }
  if (schema.contains("anyOf") && count_satisfied(root, schema["anyOf"], value) == 0) return false;
  if (schema.contains("oneOf") && count_satisfied(root, schema["oneOf"], value) != 1) return false;
  if (schema.contains("allOf")) {
    const Json& all = schema["allOf"];
    if (count_satisfied(root, all, value) != static_cast<long>(all.size())) return false;
  }
  if (!type_holds(schema, value) || !bounds_hold(schema, value)) return false;
  if (value.is_object()) return object_holds(root, schema, value);
  return !value.is_array() || array_holds(root, schema, value);
}

}  // namespace r1::support
