// One level of a document that is being written: which rule, and how far it is.
#pragma once

#include <cstdint>

#include "libr1/text/json/grammar.hpp"
#include "libr1/text/json/string_scan.hpp"

namespace r1::text::json {

/// What comes next in a value. Each kind of rule uses its own.
enum class Phase : std::uint8_t {
  start,      ///< its first byte; of the document: blanks, then the value
  inside,     ///< a literal or a string that has begun
  first,      ///< after { or [
  key,        ///< in the key of a property
  other_key,  ///< in a key that is none of the properties'
  colon,      ///< after a key
  value,      ///< after a colon
  after,      ///< after a value; of the document: the end
  next,       ///< after a comma
  minus,      ///< of numbers (RFC 8259, 6): after the sign
  zero,
  whole,
  point,
  fraction,
  e,
  e_sign,
  exponent,
};

/// A plain value: frames are copied for every byte that is tried.
struct Frame {
  RuleId rule = kNone;           ///< not a Choice; kNone: the document itself
  std::uint32_t parent = kNone;  ///< the level around it, in Machine's stack
  std::uint32_t place = 0;       ///< in a trie; from the colon on, the property, or kNone
  std::uint32_t count = 0;       ///< characters, digits, items, or the next property
  std::int64_t value = 0;        ///< of an integer's digits so far
  Phase phase = Phase::start;
  StringScan scan = StringScan::boundary;
  std::uint8_t blank = 0;  ///< how far a run of white space is (machine.cpp)
  std::uint8_t depth = 0;  ///< objects and arrays open
  bool negative = false;

  bool operator==(const Frame&) const = default;
};

}  // namespace r1::text::json
