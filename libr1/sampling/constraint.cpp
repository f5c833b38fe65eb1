// A mask is a walk over the vocabulary's trees with all places at once. Within a string nearly
// every token is allowed, and those are never walked: text tokens come as ready masks by their
// number of characters. What is left to walk there (tokens that end the string) does not change
// while the string goes on, so costly masks are kept for when their places come back.
#include "libr1/sampling/constraint.hpp"

#include <algorithm>
#include <utility>

#include "libr1/text/json/schema.hpp"

namespace r1::sampling {
namespace {

using text::json::Frame;
using text::json::StringRoom;

// A mask of fewer steps costs less than finding it again.
constexpr std::size_t kCostlySteps = 2000;
// 19 KB each for 151,936 tokens.
constexpr std::size_t kKnownMax = 16;

void allow(TokenMask& mask, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    const auto bit = static_cast<std::size_t>(id);
    mask[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

}  // namespace

std::shared_ptr<const Constraint> Constraint::from_schema(std::shared_ptr<const TokenTrie> tokens,
                                                          std::string_view schema) {
  return std::make_shared<const Constraint>(
      std::move(tokens),
      std::make_shared<const text::json::Grammar>(text::json::parse_schema(schema)));
}

std::shared_ptr<const Constraint> Constraint::any_object(std::shared_ptr<const TokenTrie> tokens) {
  return std::make_shared<const Constraint>(
      std::move(tokens), std::make_shared<const text::json::Grammar>(text::json::any_object()));
}

ConstraintState::ConstraintState(std::shared_ptr<const Constraint> constraint)
    : constraint_(std::move(constraint)),
      machine_(constraint_->grammar()),
      places_{machine_.start()},
      mask_(constraint_->tokens().words()),
      by_depth_(constraint_->tokens().depth_max() + 1) {
  known_.reserve(kKnownMax);
}

std::span<const std::uint64_t> ConstraintState::allowed() {
  if (current_ == kUnknown) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& entry) { return entry.places == places_; });
    if (known != known_.end()) {
      current_ = known - known_.begin();
    } else {
      compute();
      current_ = kComputed;
    }
  }
  return current_ == kComputed ? mask_ : known_[static_cast<std::size_t>(current_)].mask;
}

bool ConstraintState::complete() const {
  return std::any_of(places_.begin(), places_.end(),
                     [&](const Frame& place) { return machine_.may_end(place); });
}

bool ConstraintState::must_end() const {
  return std::all_of(places_.begin(), places_.end(), [&](const Frame& place) {
    return place.rule == text::json::kNone && machine_.may_end(place);
  });
}

bool ConstraintState::accept(TokenId token) {
  const TokenTrie& tokens = constraint_->tokens();
  if (tokens.is_end(token)) return complete();
  const std::string_view spelling = tokens.spelling(token);
  if (spelling.empty()) return false;
  const std::size_t levels = machine_.levels();
  from_ = places_;
  for (const char byte : spelling) {
    next_.clear();
    for (const Frame& place : from_) {
      machine_.step(place, static_cast<std::uint8_t>(byte), next_, 0);
    }
    std::swap(from_, next_);
  }
  if (from_.empty()) {
    machine_.drop_levels(levels);
    return false;
  }
  std::swap(places_, from_);
  if (machine_.merge_levels(levels, places_)) known_.clear();
  current_ = kUnknown;
  return true;
}

void ConstraintState::compute() {
  const TokenTrie& tokens = constraint_->tokens();
  std::fill(mask_.begin(), mask_.end(), 0);
  std::size_t steps = 0;
  for (const TokenTrie::Part part : {TokenTrie::text, TokenTrie::inside, TokenTrie::other}) {
    from_.clear();
    for (const Frame& place : places_) {
      const StringRoom room = machine_.string_room(place);
      if (part == TokenTrie::text && room.characters > 0) {
        tokens.allow_text(room.characters, mask_);
      } else if (part == TokenTrie::inside && room.escapes) {
        tokens.allow_string(mask_);
      } else {
        from_.push_back(place);
      }
    }
    if (!from_.empty()) steps += walk(part);
  }
  if (complete()) allow(mask_, tokens.ends());
  if (steps >= kCostlySteps) remember();
}

std::size_t ConstraintState::walk(TokenTrie::Part part) {
  const std::span<const TokenTrie::Node> nodes = constraint_->tokens().nodes(part);
  const std::span<const TokenId> ids = constraint_->tokens().tokens(part);
  const std::size_t levels = machine_.levels();
  reached_ = from_;
  by_depth_[0] = {0, from_.size(), levels};
  std::size_t steps = 0;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++steps) {
    const TokenTrie::Node& node = nodes[i];
    const Reached before = by_depth_[node.depth - 1U];
    reached_.resize(before.end);
    machine_.drop_levels(before.levels);
    for (std::size_t place = before.begin; place < before.end; ++place) {
      machine_.step(reached_[place], node.byte, reached_, before.end);
    }
    const bool dead = reached_.size() == before.end;
    if (dead || (part == TokenTrie::text && allow_string_rest(i, before.end))) {
      i = node.end;
      continue;
    }
    by_depth_[node.depth] = {before.end, reached_.size(), machine_.levels()};
    allow(mask_, ids.subspan(node.first_token, nodes[i + 1].first_token - node.first_token));
    ++i;
  }
  machine_.drop_levels(levels);
  return steps;
}

bool ConstraintState::allow_string_rest(std::size_t index, std::size_t begin) {
  const TokenTrie& tokens = constraint_->tokens();
  const TokenTrie::Node& node = tokens.nodes(TokenTrie::text)[index];
  const std::size_t first = node.first_token;
  const std::size_t last = tokens.nodes(TokenTrie::text)[node.end].first_token;
  const std::span<const TokenId> ids = tokens.tokens(TokenTrie::text);
  bool strings_only = true;
  for (std::size_t place = begin; place < reached_.size(); ++place) {
    const std::uint32_t room = machine_.string_room(reached_[place]).characters;
    if (room == 0) {
      strings_only = false;
    } else if (room == text::json::kNone) {
      allow(mask_, ids.subspan(first, last - first));
      return true;
    } else {
      for (std::size_t i = first; i < last; ++i) {
        if (tokens.characters()[i] - node.characters <= static_cast<std::int64_t>(room)) {
          allow(mask_, ids.subspan(i, 1));
        }
      }
    }
  }
  return strings_only;
}

void ConstraintState::remember() {
  if (known_.size() < kKnownMax) {
    known_.push_back({places_, mask_});
    return;
  }
  known_[oldest_].places = places_;
  known_[oldest_].mask = mask_;
  oldest_ = (oldest_ + 1) % kKnownMax;
}

}  // namespace r1::sampling
