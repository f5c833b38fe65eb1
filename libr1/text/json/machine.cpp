// White space is bounded everywhere, so that no model can go on with it for ever: one blank, or one
// line break and an indentation, before keys, items and closing brackets; one blank after a colon;
// a line break or two before the document; none elsewhere.
#include "libr1/text/json/machine.hpp"

#include <algorithm>
#include <utility>

#include "libr1/text/json/number_scan.hpp"

namespace r1::text::json {
namespace {

// Frame::blank: nothing yet, one blank, a line break and so many blanks less kLineBreak.
constexpr std::uint8_t kNoBlank = 0;
constexpr std::uint8_t kOneBlank = 1;
constexpr std::uint8_t kLineBreak = 2;
constexpr std::uint8_t kIndentMax = 32;

constexpr std::size_t kLevelsMax = 1024;  // before the stack is cleaned

bool take_blank(Frame& frame, std::uint8_t byte) {
  if (byte == ' ' && frame.blank == kNoBlank) {
    frame.blank = kOneBlank;
    return true;
  }
  if (byte == '\n' && frame.blank == kNoBlank) {
    frame.blank = kLineBreak;
    return true;
  }
  if (byte == ' ' && frame.blank >= kLineBreak && frame.blank < kLineBreak + kIndentMax) {
    ++frame.blank;
    return true;
  }
  return false;
}

// Before the document: a thought's end is followed by two line breaks.
bool take_leading(Frame& frame, std::uint8_t byte) {
  if (byte == '\n' && (frame.blank == kNoBlank || frame.blank == kLineBreak)) {
    frame.blank = frame.blank == kNoBlank ? kLineBreak : kLineBreak + 1;
    return true;
  }
  return byte == ' ' && frame.blank == kNoBlank && take_blank(frame, byte);
}

Frame at(Frame frame, Phase phase) {
  frame.phase = phase;
  frame.blank = kNoBlank;
  return frame;
}

}  // namespace

Machine::Machine(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
  stack_.reserve(2 * kLevelsMax);
}

void Machine::add(const Frame& frame, const Output& out) {
  const auto begin = out.frames.begin() + static_cast<std::ptrdiff_t>(out.from);
  if (out.frames.size() - out.from == kPlacesMax) return;
  if (std::find(begin, out.frames.end(), frame) == out.frames.end()) out.frames.push_back(frame);
}

bool Machine::fits(RuleId rule, std::uint32_t depth) const {
  return rule != kNone && grammar_->rules[rule].height <= kDepthMax - depth;
}

void Machine::step(Frame frame, std::uint8_t byte, std::vector<Frame>& out, std::size_t from) {
  while (step_inside(frame, byte, {out, from})) frame = Frame(stack_[frame.parent]);
}

bool Machine::step_inside(Frame frame, std::uint8_t byte, const Output& out) {
  if (frame.rule == kNone) {
    step_document(frame, byte, out);
    return false;
  }
  const auto& body = grammar_->rules[frame.rule].body;
  if (const auto* string = std::get_if<String>(&body)) {
    step_string(*string, frame, byte, out);
  } else if (const auto* object = std::get_if<Object>(&body)) {
    step_object(*object, frame, byte, out);
  } else if (const auto* array = std::get_if<Array>(&body)) {
    step_array(*array, frame, byte, out);
  } else if (const auto* literals = std::get_if<Literals>(&body)) {
    return step_literal(*literals, frame, byte, out);
  } else if (const auto* number = std::get_if<Number>(&body)) {
    Frame next = frame;
    if (!advance(*number, next, byte)) return is_whole(*number, frame);
    add(next, out);
  }
  return false;
}

// `around` is the level that the value stands in, already at what comes after the value.
void Machine::enter(Frame around, RuleId rule, std::uint8_t byte, const Output& out) {
  const std::size_t before = out.frames.size();
  const auto parent = static_cast<std::uint32_t>(stack_.size());
  stack_.push_back(around);
  for (const RuleId alternative : grammar_->rules[rule].alternatives) {
    if (!fits(alternative, around.depth)) continue;
    Frame value;
    value.rule = alternative;
    value.parent = parent;
    value.depth = around.depth;
    step_inside(value, byte, out);
  }
  if (out.frames.size() == before) stack_.pop_back();
}

void Machine::step_document(Frame frame, std::uint8_t byte, const Output& out) {
  if (frame.phase != Phase::start) return;
  if (take_leading(frame, byte)) return add(frame, out);
  enter(at(frame, Phase::after), grammar_->root, byte, out);
}

bool Machine::step_literal(const Literals& literals, Frame frame, std::uint8_t byte,
                           const Output& out) {
  const std::uint32_t next = literals.trie.next(frame.place, byte);
  if (next == LiteralTrie::kNone) {
    return literals.trie.literal_at(frame.place) != LiteralTrie::kNone;
  }
  frame.place = next;
  frame.phase = Phase::inside;
  add(literals.trie.is_leaf(next) ? stack_[frame.parent] : frame, out);
  return false;
}

void Machine::step_string(const String& string, Frame frame, std::uint8_t byte, const Output& out) {
  if (frame.phase == Phase::start) {
    frame.phase = Phase::inside;
    if (byte == '"') add(frame, out);
    return;
  }
  const bool between = frame.scan == StringScan::boundary;
  frame.scan = advance(frame.scan, byte);
  if (frame.scan == StringScan::broken) return;
  if (frame.scan == StringScan::closed) {
    if (frame.count >= string.min) add(stack_[frame.parent], out);
    return;
  }
  if (between && frame.count == string.max) return;
  // Counted no further than it matters, so that the places of a long string are one.
  if (frame.scan == StringScan::boundary && (string.max != kNone || frame.count < string.min)) {
    ++frame.count;
  }
  add(frame, out);
}

RuleId Machine::next_item(const Array& array, const Frame& frame) const {
  if (frame.count >= array.max) return kNone;
  const RuleId item = frame.count < array.prefix.size() ? array.prefix[frame.count] : array.rest;
  return fits(item, frame.depth) ? item : kNone;
}

void Machine::step_array(const Array& array, Frame frame, std::uint8_t byte, const Output& out) {
  if (frame.phase == Phase::start) {
    ++frame.depth;
    if (byte == '[') add(at(frame, Phase::first), out);
    return;
  }
  const RuleId item = next_item(array, frame);
  const bool may_close = frame.count >= array.min && frame.phase != Phase::next;
  if (frame.phase == Phase::after && byte == ',' && frame.blank == kNoBlank) {
    if (item != kNone) add(at(frame, Phase::next), out);
    return;
  }
  if (byte == ']') {
    if (may_close) add(stack_[frame.parent], out);
    return;
  }
  if (frame.phase == Phase::after && !may_close) return;
  if (take_blank(frame, byte)) return add(frame, out);
  if (frame.phase == Phase::after || item == kNone) return;
  Frame after = at(frame, Phase::after);
  const std::size_t counted =
      array.max != kNone ? array.max : std::max<std::size_t>(array.min, array.prefix.size());
  if (after.count < counted) ++after.count;
  enter(after, item, byte, out);
}

// Frame::count is the first property that may still come.
bool Machine::may_follow(const Object& object, const Frame& frame, std::uint32_t property) const {
  return property >= frame.count && property <= object.next_required[frame.count] &&
         fits(object.properties[property].value, frame.depth);
}

bool Machine::others_may_follow(const Object& object, const Frame& frame) const {
  return object.next_required[frame.count] == object.properties.size() &&
         fits(object.others, frame.depth);
}

bool Machine::key_may_follow(const Object& object, const Frame& frame) const {
  if (others_may_follow(object, frame)) return true;
  for (auto property = frame.count; property < object.properties.size(); ++property) {
    if (may_follow(object, frame, property)) return true;
    if (property == object.next_required[frame.count]) break;
  }
  return false;
}

void Machine::begin_key(const Object& object, Frame frame, const Output& out) {
  frame.place = 0;
  frame.scan = StringScan::boundary;
  if (others_may_follow(object, frame)) add(at(frame, Phase::other_key), out);
  const auto all = object.keys.empty() ? std::span<const std::uint32_t>()
                                       : object.keys.literals_under(frame.place);
  if (std::any_of(all.begin(), all.end(), [&](auto i) { return may_follow(object, frame, i); })) {
    add(at(frame, Phase::key), out);
  }
}

void Machine::step_key(const Object& object, Frame frame, std::uint8_t byte, const Output& out) {
  const std::uint32_t place = object.keys.next(frame.place, byte);
  if (frame.phase == Phase::key) {
    if (place != LiteralTrie::kNone) {
      const auto under = object.keys.literals_under(place);
      frame.place = place;
      if (std::any_of(under.begin(), under.end(),
                      [&](auto i) { return may_follow(object, frame, i); })) {
        add(frame, out);
      }
      return;
    }
    frame.place = object.keys.literal_at(frame.place);
    if (byte != '"' || frame.place == LiteralTrie::kNone) return;
    if (!may_follow(object, frame, frame.place)) return;
    frame.count = frame.place + 1;
    return add(at(frame, Phase::colon), out);
  }
  // Without escapes there is one spelling of a key, so the properties' own are known when they
  // come.
  frame.scan = advance(frame.scan, byte);
  if (frame.scan == StringScan::broken || frame.scan == StringScan::escape) return;
  if (frame.scan != StringScan::closed) {
    frame.place = place;
    return add(frame, out);
  }
  if (object.keys.literal_at(frame.place) != LiteralTrie::kNone) return;
  frame.place = kNone;
  frame.scan = StringScan::boundary;
  frame.count = static_cast<std::uint32_t>(object.properties.size());
  add(at(frame, Phase::colon), out);
}

void Machine::step_object(const Object& object, Frame frame, std::uint8_t byte, const Output& out) {
  const bool may_close = object.next_required[frame.count] == object.properties.size();
  switch (frame.phase) {
    case Phase::start:
      ++frame.depth;
      if (byte == '{') add(at(frame, Phase::first), out);
      return;
    case Phase::first:
    case Phase::next:
      if (frame.phase == Phase::first && byte == '}' && may_close) {
        add(stack_[frame.parent], out);
      } else if (byte == '"') {
        begin_key(object, frame, out);
      } else if (take_blank(frame, byte)) {
        add(frame, out);
      }
      return;
    case Phase::key:
    case Phase::other_key:
      return step_key(object, frame, byte, out);
    case Phase::colon:
      if (byte == ':') add(at(frame, Phase::value), out);
      return;
    case Phase::value: {
      if (byte == ' ' && take_blank(frame, byte)) return add(frame, out);
      const RuleId rule =
          frame.place == kNone ? object.others : object.properties[frame.place].value;
      Frame after = at(frame, Phase::after);
      after.place = 0;
      return enter(after, rule, byte, out);
    }
    case Phase::after:
      if (byte == ',' && frame.blank == kNoBlank && key_may_follow(object, frame)) {
        add(at(frame, Phase::next), out);
      } else if (byte == '}' && may_close) {
        add(stack_[frame.parent], out);
      } else if (may_close && take_blank(frame, byte)) {
        add(frame, out);
      }
      return;
    default:
      return;
  }
}

bool Machine::value_ended(const Frame& frame) const {
  const auto& body = grammar_->rules[frame.rule].body;
  if (const auto* number = std::get_if<Number>(&body)) return is_whole(*number, frame);
  const auto* literals = std::get_if<Literals>(&body);
  return literals != nullptr && literals->trie.literal_at(frame.place) != LiteralTrie::kNone;
}

bool Machine::may_end(const Frame& frame) const {
  if (frame.rule == kNone) return frame.phase == Phase::after;
  return stack_[frame.parent].rule == kNone && value_ended(frame);
}

StringRoom Machine::string_room(const Frame& frame) const {
  if (frame.rule == kNone || frame.scan != StringScan::boundary) return {};
  if (frame.phase == Phase::other_key) return {kNone, false};
  const auto* string = std::get_if<String>(&grammar_->rules[frame.rule].body);
  if (string == nullptr || frame.phase != Phase::inside) return {};
  return {string->max == kNone ? kNone : string->max - frame.count, string->max == kNone};
}

bool Machine::merge_levels(std::size_t levels, std::vector<Frame>& places) {
  if (stack_.size() == levels) return false;
  const bool renumber = stack_.size() > kLevelsMax;
  if (renumber) levels = 0;
  // Parents stand before their children, so one pass follows all of them.
  used_.assign(stack_.size(), !renumber);
  for (const Frame& place : places) {
    for (std::uint32_t i = place.parent; i != kNone && !used_[i]; i = stack_[i].parent) {
      used_[i] = true;
    }
  }
  moved_.resize(stack_.size());
  std::size_t kept = levels;
  const auto parent_of = [&](const Frame& frame) {
    return frame.parent == kNone || frame.parent < levels ? frame.parent : moved_[frame.parent];
  };
  for (std::size_t i = levels; i < stack_.size(); ++i) {
    if (!used_[i]) continue;
    Frame level = stack_[i];
    level.parent = parent_of(level);
    const auto end = stack_.begin() + static_cast<std::ptrdiff_t>(kept);
    const auto same = std::find(stack_.begin(), end, level);
    moved_[i] = static_cast<std::uint32_t>(same - stack_.begin());
    if (same == end) stack_[kept++] = level;
  }
  for (Frame& place : places) place.parent = parent_of(place);
  stack_.resize(kept);
  return renumber;
}

}  // namespace r1::text::json
