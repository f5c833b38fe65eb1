// The tokens that may be drawn, in order of falling logit (ties: lower id first) as far as anyone
// asks: buckets of logits first, and only the bucket in which an answer lies is looked into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::sampling {

/// A token and its share of all probability as a whole number of some unit.
struct Candidate {
  float logit;
  TokenId id;
  std::uint64_t mass;
};

/// A set of candidates. Allocates at construction only. Not thread-safe.
class Candidates {
 public:
  /// At most `capacity` candidates at a time.
  explicit Candidates(std::size_t capacity) : items_(capacity), spare_(capacity) {}

  void clear();
  /// Adds one, before anything else is asked.
  void add(float logit, TokenId id) { items_[count_++] = {logit, id, 0}; }
  /// Those added, for the masses to be filled in.
  std::span<Candidate> added() { return {items_.data(), count_}; }

  std::size_t size() const { return count_; }
  /// The sum of all masses.
  std::uint64_t mass() const;
  /// Length of the shortest prefix, in order, of at least this mass; 0 when all together have less.
  std::size_t prefix(std::uint64_t mass);
  /// The last token of a prefix whose length prefix() just gave.
  TokenId last_of(std::size_t prefix) const { return items_[prefix - 1].id; }
  /// Keeps the prefix whose length prefix() just gave.
  void keep_prefix(std::size_t prefix);
  /// Keeps the `count` first in order.
  void keep_top(std::size_t count);
  /// Keeps those of at least this mass; true if some were dropped.
  bool keep_heavy(double mass);

 private:
  static constexpr std::size_t kBuckets = 1024;

  void distribute();
  std::size_t prefix_in(std::size_t begin, std::size_t end, std::uint64_t mass);

  std::vector<Candidate> items_;
  std::vector<Candidate> spare_;  ///< where distribute() moves them
  std::size_t count_ = 0;
  std::size_t buckets_ = 0;                        ///< in use; 0: not distributed
  std::array<std::size_t, kBuckets + 1> begin_{};  ///< of each bucket in items_
  std::array<std::uint64_t, kBuckets> masses_{};   ///< of each bucket
};

}  // namespace r1::sampling
