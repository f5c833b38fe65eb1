// A small state machine; each state takes what is certain from the front of the held text.
#include "libr1/text/think_splitter.hpp"

#include <algorithm>

namespace r1::text {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kBlanks = " \t\r\n";

std::size_t leading_blanks(std::string_view text) {
  return std::min(text.find_first_not_of(kBlanks), text.size());
}

/// Length of the longest end of `text` that is a beginning of `tag`, but not all of it.
std::size_t partial_tag(std::string_view text, std::string_view tag) {
  for (std::size_t length = std::min(text.size(), tag.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == tag.substr(0, length)) return length;
  }
  return 0;
}

bool may_become(std::string_view text, std::string_view tag) {
  return text.size() < tag.size() && tag.substr(0, text.size()) == text;
}

void add(std::vector<Piece>& pieces, std::string_view text, PieceKind kind) {
  if (text.empty()) return;
  if (!pieces.empty() && pieces.back().kind == kind) {
    pieces.back().text.append(text);
  } else {
    pieces.push_back({std::string(text), kind});
  }
}

std::string_view without_trailing_blanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlanks);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

ThinkSplitter::ThinkSplitter(bool starts_in_thought)
    : state_(starts_in_thought ? State::thought_start : State::start) {}

bool ThinkSplitter::in_thought() const {
  return state_ == State::thought_start || state_ == State::thought;
}

std::vector<Piece> ThinkSplitter::feed(std::string_view text) {
  std::vector<Piece> pieces;
  held_.append(text);
  State before{};
  do {
    before = state_;
    switch (state_) {
      case State::start: {
        const std::string_view rest = std::string_view(held_).substr(leading_blanks(held_));
        if (may_become(rest, kOpen)) return pieces;
        if (rest.substr(0, kOpen.size()) == kOpen) {
          held_ = rest.substr(kOpen.size());
          state_ = State::thought_start;
        } else {
          state_ = State::answer;
        }
        break;
      }
      case State::thought_start:
        held_.erase(0, leading_blanks(held_));
        // Some models repeat the tag that the prompt has already opened.
        while (std::string_view(held_).substr(0, kOpen.size()) == kOpen) {
          held_.erase(0, kOpen.size());
          held_.erase(0, leading_blanks(held_));
        }
        if (may_become(held_, kOpen)) return pieces;
        state_ = State::thought;
        break;
      case State::thought: {
        const std::string_view held = held_;
        const std::size_t close = held.find(kClose);
        if (close != std::string_view::npos) {
          add(pieces, without_trailing_blanks(held.substr(0, close)), PieceKind::thought);
          held_.erase(0, close + kClose.size());
          state_ = State::answer_start;
          break;
        }
        const std::size_t open_end = held.size() - partial_tag(held, kClose);
        const std::string_view certain = without_trailing_blanks(held.substr(0, open_end));
        add(pieces, certain, PieceKind::thought);
        held_.erase(0, certain.size());
        break;
      }
      case State::answer_start:
        held_.erase(0, leading_blanks(held_));
        if (!held_.empty()) state_ = State::answer;
        break;
      case State::answer:
        add(pieces, held_, PieceKind::answer);
        held_.clear();
        break;
    }
  } while (state_ != before);
  return pieces;
}

std::vector<Piece> ThinkSplitter::finish() {
  std::vector<Piece> pieces;
  add(pieces, held_, in_thought() ? PieceKind::thought : PieceKind::answer);
  held_.clear();
  state_ = State::answer;
  return pieces;
}

}  // namespace r1::text
