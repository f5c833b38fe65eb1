// What a JSON schema allows, as rules over bytes: no JSON library and no schema words are left in
// it. schema.hpp makes it, machine.hpp runs it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "libr1/text/json/literal_trie.hpp"

namespace r1::text::json {

/// Index of a rule in Grammar::rules.
using RuleId = std::uint32_t;

/// No rule; as a number, no bound.
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// Objects and arrays within each other, at most. A document that needs more cannot be asked for.
inline constexpr std::uint32_t kDepthMax = 64;

/// Digits of an integer, of a number's whole part and of its fraction, at most; of its exponent.
/// They keep whole numbers within 64 bits and any number within a double.
inline constexpr std::uint32_t kDigitsMax = 18;
inline constexpr std::uint32_t kExponentDigitsMax = 2;
/// The largest whole number of kDigitsMax digits.
inline constexpr std::int64_t kIntegerMax = 999'999'999'999'999'999;

/// One of other rules.
struct Choice {
  std::vector<RuleId> rules;
};

/// One of some values, spelled in exactly one way.
struct Literals {
  std::vector<std::string> values;
  LiteralTrie trie;  ///< of `values`
};

/// A string of so many Unicode characters.
struct String {
  std::uint32_t min = 0;
  std::uint32_t max = kNone;
};

/// A number; `integer`: neither fraction nor exponent, and within [low, high].
struct Number {
  bool integer = false;
  std::int64_t low = -kIntegerMax;
  std::int64_t high = kIntegerMax;
};

/// A key of an object and what it may hold.
struct Property {
  std::string key;
  RuleId value = kNone;
  bool required = false;
};

/// Properties in this order, optional ones left out at will, then others.
struct Object {
  std::vector<Property> properties;
  RuleId others = kNone;  ///< values under other keys; kNone: there are none
  LiteralTrie keys;       ///< of `properties`, as they are spelled between quotes
  std::vector<std::uint32_t> next_required;  ///< [properties + 1]: first required one from there
                                             ///< on, or the number of properties
};

/// Items: one after another by `prefix`, then by `rest`.
struct Array {
  std::vector<RuleId> prefix;
  RuleId rest = kNone;  ///< kNone: no more than the prefix
  std::uint32_t min = 0;
  std::uint32_t max = kNone;
};

/// One rule. What stands in `body` is as the schema says; the rest is derived from all rules
/// together.
struct Rule {
  std::variant<Choice, Literals, String, Number, Object, Array> body;
  std::string where;      ///< JSON pointer of its schema, for messages
  bool any_type = false;  ///< the schema did not say a type: other values satisfy it as well
  std::vector<RuleId> alternatives = {};  ///< rules that are no Choice: itself, or what it leads to
  std::uint32_t height = kNone;           ///< levels of nesting that it needs; kNone: no end
};

/// Immutable once made, thread-safe.
struct Grammar {
  std::vector<Rule> rules;
  RuleId root = 0;
};

/// Fills in what is derived: tries, alternatives, heights. Throws Error{invalid_argument} when no
/// document satisfies the root within kDepthMax, or when one place has more than 64 alternatives.
void complete(Grammar& grammar);

/// True when no JSON value satisfies both rules' schemas for certain. Needs a complete grammar.
bool disjoint(const Grammar& grammar, RuleId a, RuleId b);

}  // namespace r1::text::json
