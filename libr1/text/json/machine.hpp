// Runs a grammar over bytes: from a place in a document and one more byte to the places after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libr1/text/json/frame.hpp"
#include "libr1/text/json/grammar.hpp"

namespace r1::text::json {

/// What a place lets stand in a string without looking at it byte by byte.
struct StringRoom {
  std::uint32_t characters = 0;  ///< between characters of a string: how many more; kNone: any
  bool escapes = false;          ///< escapes are as good as characters
};

/// A pushdown automaton. A place is a Frame, the innermost level; those around it are on a stack
/// that all places share (a tree: levels never change once they are there). Several places at once
/// mean that the document can still be read in several ways. From every place some document can be
/// completed. Not thread-safe.
class Machine {
 public:
  /// Places at once, at most; readings beyond it are dropped, which leaves fewer documents, never
  /// wrong ones.
  static constexpr std::size_t kPlacesMax = 64;

  explicit Machine(std::shared_ptr<const Grammar> grammar);

  /// The place before the document.
  Frame start() const { return {}; }
  /// Appends the places after `byte` to `out`, without those that stand there from `from` on
  /// already. Levels that it needs are put on the stack.
  void step(Frame frame, std::uint8_t byte, std::vector<Frame>& out, std::size_t from);
  /// True when the document may end at `frame`.
  bool may_end(const Frame& frame) const;
  StringRoom string_room(const Frame& frame) const;

  /// Levels on the stack.
  std::size_t levels() const { return stack_.size(); }
  /// Takes off those above `levels`; no place that is still used may stand on them.
  void drop_levels(std::size_t levels) { stack_.resize(levels); }
  /// Merges the levels above `levels` with equal ones, so that equal places compare equal. True
  /// when the stack had grown so long that all of it was renumbered and old places are void.
  bool merge_levels(std::size_t levels, std::vector<Frame>& places);

 private:
  struct Output {
    std::vector<Frame>& frames;
    std::size_t from;
  };

  static void add(const Frame& frame, const Output& out);
  bool fits(RuleId rule, std::uint32_t depth) const;
  void enter(Frame around, RuleId rule, std::uint8_t byte, const Output& out);
  /// One byte in `frame` itself; true when the value had ended before and the byte is its parent's.
  bool step_inside(Frame frame, std::uint8_t byte, const Output& out);
  void step_document(Frame frame, std::uint8_t byte, const Output& out);
  bool step_literal(const Literals& literals, Frame frame, std::uint8_t byte, const Output& out);
  void step_string(const String& string, Frame frame, std::uint8_t byte, const Output& out);
  void step_array(const Array& array, Frame frame, std::uint8_t byte, const Output& out);
  void step_object(const Object& object, Frame frame, std::uint8_t byte, const Output& out);
  void step_key(const Object& object, Frame frame, std::uint8_t byte, const Output& out);
  void begin_key(const Object& object, Frame frame, const Output& out);
  bool may_follow(const Object& object, const Frame& frame, std::uint32_t property) const;
  bool others_may_follow(const Object& object, const Frame& frame) const;
  bool key_may_follow(const Object& object, const Frame& frame) const;
  RuleId next_item(const Array& array, const Frame& frame) const;
  bool value_ended(const Frame& frame) const;

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Frame> stack_;
  std::vector<bool> used_;            ///< scratch of merge_levels(): by level
  std::vector<std::uint32_t> moved_;  ///< the same
};

}  // namespace r1::text::json
