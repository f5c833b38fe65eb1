// One rule a subschema, from a list of work instead of recursion: references may go in circles and
// chains of them may be as long as the document. What is stricter here than in JSON Schema is
// written in docs/json-schema.md; nothing is looser.
#include "libr1/text/json/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>

#include "libr1/text/json/schema_reader.hpp"

namespace r1::text::json {
namespace {

using Names = std::span<const std::string_view>;

constexpr int kHopsMax = 64;

// They describe and do not restrict (JSON Schema 2020-12, Meta-Data and Core; OpenAPI's own).
constexpr std::array<std::string_view, 14> kAnnotations = {
    "title",     "description", "default", "examples", "example", "deprecated",  "readOnly",
    "writeOnly", "$comment",    "$schema", "$id",      "$defs",   "definitions", "discriminator"};
constexpr std::array<std::string_view, 3> kObjectWords = {"properties", "required",
                                                          "additionalProperties"};
constexpr std::array<std::string_view, 2> kContentWords = {"properties", "required"};
constexpr std::array<std::string_view, 4> kArrayWords = {"items", "prefixItems", "minItems",
                                                         "maxItems"};
constexpr std::array<std::string_view, 2> kStringWords = {"minLength", "maxLength"};
constexpr std::array<std::string_view, 4> kNumberWords = {"minimum", "maximum", "exclusiveMinimum",
                                                          "exclusiveMaximum"};

bool has(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_any(const Document& schema, Names names) {
  return std::any_of(schema.items().begin(), schema.items().end(),
                     [&](const auto& item) { return has(names, item.key()); });
}

class Compiler {
 public:
  explicit Compiler(const Document& document) : document_(document) {}

  Grammar run() {
    grammar_.root = rule_of(document_, "#");
    while (!work_.empty()) {
      const auto [schema, id] = work_.back();
      work_.pop_back();
      expand(*schema, id);
    }
    complete(grammar_);
    for (const auto& [id, rules] : one_of_) check_one_of(id, rules);
    return std::move(grammar_);
  }

 private:
  /// The rule of a subschema; made once, filled in later.
  RuleId rule_of(const Document& schema, std::string where) {
    const Document* target = &schema;
    for (int hops = 0; target->is_object() && target->contains("$ref"); ++hops) {
      if (hops == kHopsMax) fail(where, "a $ref that ends", "a circle or a long chain");
      target = &resolve(*target, where);
    }
    const auto [known, is_new] = rules_.try_emplace(target, static_cast<RuleId>(count()));
    if (is_new) {
      add(Choice{}, std::move(where));
      work_.emplace_back(target, known->second);
    }
    return known->second;
  }

  /// What "$ref" of `schema` points at; `where` follows.
  const Document& resolve(const Document& schema, std::string& where) {
    allow(schema, {"$ref"}, where);
    const Document& ref = schema.at("$ref");
    const std::string at = join(where, "$ref");
    if (!ref.is_string()) fail(at, "a string", describe(ref));
    const std::string& pointer = ref.get_ref<const std::string&>();
    if (pointer.empty() || pointer[0] != '#') {
      refuse(ErrorCode::unsupported, at, "a place in this schema (#/$defs/...)", describe(ref));
    }
    try {
      const Document& target = document_.at(Document::json_pointer(pointer.substr(1)));
      where = join("#", pointer.substr(std::min<std::size_t>(2, pointer.size())));
      return target;
    } catch (const Document::exception&) {
      fail(at, "a place in this schema", describe(ref));
    }
  }

  void expand(const Document& schema, RuleId id) {
    const std::string where = grammar_.rules[id].where;
    if (schema.is_boolean()) {
      if (schema.get<bool>()) set(id, Choice{{any()}});
      return;
    }
    if (!schema.is_object()) fail(where, "a schema (an object or a boolean)", describe(schema));
    for (const char* word : {"anyOf", "oneOf", "allOf"}) {
      if (schema.contains(word)) return expand_choice(schema, word, id, where);
    }
    if (schema.contains("enum") || schema.contains("const")) {
      return set(id, literals(schema, where));
    }
    expand_types(schema, id, where);
  }

  void expand_choice(const Document& schema, const char* word, RuleId id,
                     const std::string& where) {
    allow(schema, {word}, where);
    const Document& list = schema.at(word);
    const std::string at = join(where, word);
    if (!list.is_array() || list.empty()) fail(at, "a list of schemas", describe(list));
    if (std::string_view(word) == "allOf" && list.size() != 1) {
      refuse(ErrorCode::unsupported, at, "one schema", std::to_string(list.size()));
    }
    Choice choice;
    for (std::size_t i = 0; i < list.size(); ++i) {
      choice.rules.push_back(rule_of(list[i], join(at, std::to_string(i))));
    }
    if (std::string_view(word) == "oneOf") one_of_.emplace_back(id, choice.rules);
    set(id, std::move(choice));
  }

  Literals literals(const Document& schema, const std::string& where) {
    allow(schema, {"enum", "const", "type"}, where);
    const std::vector<std::string> types = read_types(schema, where);
    Literals literals;
    const auto add_value = [&](const Document& value) {
      const bool fits = types.empty() || std::any_of(types.begin(), types.end(), [&](auto& type) {
                          return is_of_type(value, type);
                        });
      if (fits) literals.values.push_back(value.dump());
    };
    const bool both = schema.contains("enum") && schema.contains("const");
    if (both) fail(where, "enum or const", "both");
    if (schema.contains("const")) {
      add_value(schema.at("const"));
      return literals;
    }
    const Document& list = schema.at("enum");
    const std::string at = join(where, "enum");
    if (!list.is_array()) fail(at, "a list of values", describe(list));
    if (list.size() > kEnumMax) {
      fail(at, fmt::format("at most {} values", kEnumMax), std::to_string(list.size()));
    }
    for (const Document& value : list) add_value(value);
    return literals;
  }

  void expand_types(const Document& schema, RuleId id, const std::string& where) {
    std::vector<std::string> types = read_types(schema, where);
    const bool any_type = types.empty();
    if (any_type) types = implied_types(schema);
    check_words(schema, where);
    if (types.empty()) return set(id, Choice{{any()}});
    if (types.size() == 1) {
      set_type(id, schema, types[0], where);
      grammar_.rules[id].any_type = any_type;
      return;
    }
    Choice choice;
    for (const std::string& type : types) {
      const RuleId part = add(Choice{}, where);
      set_type(part, schema, type, where);
      grammar_.rules[part].any_type = any_type;
      choice.rules.push_back(part);
    }
    set(id, std::move(choice));
  }

  static std::vector<std::string> implied_types(const Document& schema) {
    std::vector<std::string> types;
    if (has_any(schema, kObjectWords)) types.emplace_back("object");
    if (has_any(schema, kArrayWords)) types.emplace_back("array");
    if (has_any(schema, kStringWords)) types.emplace_back("string");
    if (has_any(schema, kNumberWords)) types.emplace_back("number");
    return types;
  }

  void set_type(RuleId id, const Document& schema, const std::string& type,
                const std::string& where) {
    if (type == "object") return set(id, object(schema, where));
    if (type == "array") return set(id, array(schema, where));
    if (type == "string") return set(id, string(schema, where));
    if (type == "boolean") return set(id, Literals{{"true", "false"}});
    if (type == "null") return set(id, Literals{{"null"}});
    Number number;
    number.integer = type == "integer";
    if (number.integer) {
      read_range(schema, number.low, number.high, where);
    } else if (has_any(schema, kNumberWords)) {
      refuse(ErrorCode::unsupported, where, "bounds of integers only", "bounds of a number");
    }
    set(id, number);
  }

  static String string(const Document& schema, const std::string& where) {
    const String string{read_count(schema, "minLength", 0, where),
                        read_count(schema, "maxLength", kNone, where)};
    if (string.min > string.max) fail(where, "minLength <= maxLength", "more");
    return string;
  }

  Object object(const Document& schema, const std::string& where) {
    Object object;
    if (const auto found = schema.find("properties"); found != schema.end()) {
      const std::string at = join(where, "properties");
      if (!found->is_object()) fail(at, "an object", describe(*found));
      for (const auto& [key, value] : found->items()) {
        object.properties.push_back({key, rule_of(value, join(at, key)), false});
      }
    }
    // Closed as soon as it says what it holds: a model that may add keys will.
    const bool open = !has_any(schema, kContentWords);
    const auto others = schema.find("additionalProperties");
    const bool none = others != schema.end() && others->is_boolean() && !others->get<bool>();
    if (others != schema.end() && !none) {
      object.others = rule_of(*others, join(where, "additionalProperties"));
    } else if (others == schema.end() && open) {
      object.others = any();
    }
    if (const auto found = schema.find("required"); found != schema.end()) {
      require(object, *found, none, join(where, "required"));
    }
    return object;
  }

  void require(Object& object, const Document& list, bool none, const std::string& where) {
    if (!list.is_array()) fail(where, "a list of keys", describe(list));
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < object.properties.size(); ++i) {
      places.emplace(object.properties[i].key, i);
    }
    for (const Document& key : list) {
      if (!key.is_string()) fail(where, "keys", describe(key));
      const auto [place, is_new] =
          places.try_emplace(key.get<std::string>(), object.properties.size());
      if (is_new) {
        if (none) fail(where, "keys of properties", describe(key));
        const RuleId value = object.others != kNone ? object.others : any();
        object.properties.push_back({place->first, value, true});
      }
      object.properties[place->second].required = true;
    }
  }

  Array array(const Document& schema, const std::string& where) {
    Array array;
    const auto prefix = schema.find("prefixItems");
    if (prefix != schema.end()) {
      const std::string at = join(where, "prefixItems");
      if (!prefix->is_array()) fail(at, "a list of schemas", describe(*prefix));
      for (std::size_t i = 0; i < prefix->size(); ++i) {
        array.prefix.push_back(rule_of((*prefix)[i], join(at, std::to_string(i))));
      }
    }
    const auto items = schema.find("items");
    const bool none = items != schema.end() && items->is_boolean() && !items->get<bool>();
    if (items != schema.end() && !none) {
      array.rest = rule_of(*items, join(where, "items"));
    } else if (items == schema.end() && prefix == schema.end()) {
      array.rest = any();
    }
    array.min = read_count(schema, "minItems", 0, where);
    array.max = read_count(schema, "maxItems", kNone, where);
    if (array.rest == kNone) {
      array.max = std::min(array.max, static_cast<std::uint32_t>(array.prefix.size()));
    }
    if (array.min > array.max) {
      fail(where, fmt::format("minItems of at most {}", array.max), std::to_string(array.min));
    }
    return array;
  }

  /// The rule of any JSON value.
  RuleId any() {
    if (any_ != kNone) return any_;
    any_ = add(Choice{}, "#");
    Choice choice;
    choice.rules.push_back(add(String{}, "#"));
    choice.rules.push_back(add(Number{}, "#"));
    choice.rules.push_back(add(Literals{{"true", "false", "null"}}, "#"));
    choice.rules.push_back(add(Object{{}, any_}, "#"));
    choice.rules.push_back(add(Array{{}, any_}, "#"));
    set(any_, std::move(choice));
    return any_;
  }

  void check_one_of(RuleId id, const std::vector<RuleId>& rules) const {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (disjoint(grammar_, rules[i], rules[j])) continue;
        refuse(ErrorCode::unsupported, join(grammar_.rules[id].where, "oneOf"),
               "alternatives that differ in type or in a required constant (else use anyOf)",
               fmt::format("{} and {}, which may overlap", j, i));
      }
    }
  }

  /// Refuses keywords beside `words` that restrict.
  static void allow(const Document& schema, std::initializer_list<std::string_view> words,
                    const std::string& where) {
    for (const auto& item : schema.items()) {
      if (has({words.begin(), words.size()}, item.key()) || has(kAnnotations, item.key())) continue;
      refuse(ErrorCode::unsupported, where,
             fmt::format("nothing but descriptions beside {}", *words.begin()),
             printable_key(item.key()));
    }
  }

  static void check_words(const Document& schema, const std::string& where) {
    for (const auto& item : schema.items()) {
      const std::string& key = item.key();
      if (key == "type" || has(kAnnotations, key) || has(kObjectWords, key) ||
          has(kArrayWords, key) || has(kStringWords, key) || has(kNumberWords, key)) {
        continue;
      }
      refuse(ErrorCode::unsupported, where, "keywords of docs/json-schema.md", printable_key(key));
    }
  }

  static std::string printable_key(const std::string& key) { return describe(Document(key)); }

  [[noreturn]] static void fail(const std::string& where, std::string_view expected,
                                std::string_view got) {
    refuse(ErrorCode::invalid_argument, where, expected, got);
  }

  std::size_t count() const { return grammar_.rules.size(); }

  template <class Body>
  RuleId add(Body body, std::string where) {
    grammar_.rules.push_back({std::move(body), std::move(where)});
    return static_cast<RuleId>(count() - 1);
  }

  template <class Body>
  void set(RuleId id, Body body) {
    grammar_.rules[id].body = std::move(body);
  }

  const Document& document_;
  Grammar grammar_;
  std::unordered_map<const Document*, RuleId> rules_;
  std::vector<std::pair<const Document*, RuleId>> work_;
  std::vector<std::pair<RuleId, std::vector<RuleId>>> one_of_;
  RuleId any_ = kNone;
};

}  // namespace

Grammar parse_schema(std::string_view schema) {
  const Document document = read_document(schema);
  return Compiler(document).run();
}

Grammar any_object() { return parse_schema(R"({"type": "object"})"); }

}  // namespace r1::text::json
