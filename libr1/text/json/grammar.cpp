// What follows from the rules taken together: which rules a choice leads to, how deep each must
// nest, which can never hold of the same value.
#include "libr1/text/json/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "r1/error.hpp"

namespace r1::text::json {
namespace {

constexpr std::size_t kAlternativesMax = 64;
// Choices on the way to them: what bounds the time for choices of choices without end.
constexpr std::size_t kChoicesMax = 256;

void find_alternatives(const Grammar& grammar, RuleId id, std::vector<RuleId>& found) {
  std::vector<RuleId> seen = {id};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto* choice = std::get_if<Choice>(&grammar.rules[seen[i]].body);
    if (choice == nullptr) {
      found.push_back(seen[i]);
      continue;
    }
    for (const RuleId rule : choice->rules) {
      if (std::find(seen.begin(), seen.end(), rule) == seen.end()) seen.push_back(rule);
    }
    if (seen.size() > kChoicesMax) break;
  }
  if (found.size() > kAlternativesMax || seen.size() > kChoicesMax) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("json_schema {}: expected at most {} alternatives, got more",
                            grammar.rules[id].where, kAlternativesMax));
  }
}

void index_keys(Object& object) {
  std::vector<std::string> keys;
  for (const Property& property : object.properties) {
    const std::string quoted = nlohmann::json(property.key).dump();
    keys.push_back(quoted.substr(1, quoted.size() - 2));
  }
  object.keys = LiteralTrie(keys);
  const auto count = static_cast<std::uint32_t>(keys.size());
  object.next_required.assign(count + 1, count);
  for (std::uint32_t i = count; i-- > 0;) {
    object.next_required[i] = object.properties[i].required ? i : object.next_required[i + 1];
  }
}

std::uint32_t height_of(const Grammar& grammar, const Rule& rule) {
  const auto deepest = [&](std::uint32_t height, RuleId child) {
    const std::uint32_t of_child = child == kNone ? kNone : grammar.rules[child].height;
    return of_child == kNone || height == kNone ? kNone : std::max(height, of_child + 1);
  };
  if (const auto* literals = std::get_if<Literals>(&rule.body)) {
    return literals->values.empty() ? kNone : 0;
  }
  if (const auto* object = std::get_if<Object>(&rule.body)) {
    std::uint32_t height = 1;
    for (const Property& property : object->properties) {
      if (property.required) height = deepest(height, property.value);
    }
    return height;
  }
  if (const auto* array = std::get_if<Array>(&rule.body)) {
    std::uint32_t height = 1;
    const auto needed = std::min<std::size_t>(array->min, array->prefix.size());
    for (std::size_t i = 0; i < needed; ++i) height = deepest(height, array->prefix[i]);
    if (array->min > needed) height = deepest(height, array->rest);
    return height;
  }
  if (!std::holds_alternative<Choice>(rule.body)) return 0;
  std::uint32_t height = kNone;
  for (const RuleId id : rule.alternatives) height = std::min(height, grammar.rules[id].height);
  return height;
}

// After round h every rule that needs at most h levels is settled, so the rounds end.
void find_heights(Grammar& grammar) {
  bool changed = true;
  for (std::uint32_t round = 0; changed && round <= 2 * kDepthMax + 2; ++round) {
    changed = false;
    for (Rule& rule : grammar.rules) {
      const std::uint32_t height = height_of(grammar, rule);
      changed = changed || height != rule.height;
      rule.height = height;
    }
  }
}

bool is_number(const std::string& literal) {
  return literal[0] == '-' || (literal[0] >= '0' && literal[0] <= '9');
}

// Of two numbers nothing is certain, as 1 and 1.0 are one value.
bool share_value(const Literals& a, const Literals& b) {
  const auto has_number = [](const Literals& literals) {
    return std::any_of(literals.values.begin(), literals.values.end(), is_number);
  };
  return (has_number(a) && has_number(b)) ||
         std::any_of(a.values.begin(), a.values.end(),
                     [&](const std::string& value) { return b.trie.contains(value); });
}

bool may_be(const Rule& rule, const std::string& literal) {
  switch (literal[0]) {
    case '"':
      return std::holds_alternative<String>(rule.body);
    case '{':
      return std::holds_alternative<Object>(rule.body);
    case '[':
      return std::holds_alternative<Array>(rule.body);
    default:
      return is_number(literal) && std::holds_alternative<Number>(rule.body);
  }
}

bool only_literals(const Grammar& grammar, RuleId id) {
  const auto& alternatives = grammar.rules[id].alternatives;
  return std::all_of(alternatives.begin(), alternatives.end(), [&](RuleId alternative) {
    return std::holds_alternative<Literals>(grammar.rules[alternative].body);
  });
}

bool disjoint_rules(const Grammar& grammar, const Rule& a, const Rule& b) {
  if (a.any_type || b.any_type) return false;
  const auto* values_a = std::get_if<Literals>(&a.body);
  const auto* values_b = std::get_if<Literals>(&b.body);
  if (values_a != nullptr && values_b != nullptr) return !share_value(*values_a, *values_b);
  if (values_a != nullptr) {
    return std::none_of(values_a->values.begin(), values_a->values.end(),
                        [&](const std::string& value) { return may_be(b, value); });
  }
  if (values_b != nullptr) return disjoint_rules(grammar, b, a);
  if (a.body.index() != b.body.index()) return true;
  const auto* object_a = std::get_if<Object>(&a.body);
  const auto* object_b = std::get_if<Object>(&b.body);
  if (object_a == nullptr) return false;
  // A key that both require and whose values tell them apart.
  for (const Property& property : object_a->properties) {
    const auto other =
        std::find_if(object_b->properties.begin(), object_b->properties.end(),
                     [&](const Property& candidate) { return candidate.key == property.key; });
    if (other == object_b->properties.end() || !property.required || !other->required) continue;
    // Not the whole relation, which need not end: literals are what people tell objects apart by.
    if (only_literals(grammar, property.value) && only_literals(grammar, other->value) &&
        disjoint(grammar, property.value, other->value)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void complete(Grammar& grammar) {
  for (RuleId id = 0; id < grammar.rules.size(); ++id) {
    Rule& rule = grammar.rules[id];
    find_alternatives(grammar, id, rule.alternatives);
    if (auto* object = std::get_if<Object>(&rule.body)) index_keys(*object);
    if (auto* literals = std::get_if<Literals>(&rule.body)) {
      literals->trie = LiteralTrie(literals->values);
    }
  }
  find_heights(grammar);
  if (grammar.rules[grammar.root].height > kDepthMax) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("json_schema {}: expected a schema that a document of at most {} "
                            "levels satisfies, got one without",
                            grammar.rules[grammar.root].where, kDepthMax));
  }
}

bool disjoint(const Grammar& grammar, RuleId a, RuleId b) {
  for (const RuleId one : grammar.rules[a].alternatives) {
    for (const RuleId other : grammar.rules[b].alternatives) {
      if (!disjoint_rules(grammar, grammar.rules[one], grammar.rules[other])) return false;
    }
  }
  return true;
}

}  // namespace r1::text::json
