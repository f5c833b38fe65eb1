// Finds generated tokens that go round in a circle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::engine {

/// What is called a loop: the last tokens are one sequence `repeats` times over, and at least
/// `tokens` in all.
struct LoopRule {
  std::int64_t repeats = 4;
  std::int64_t tokens = 256;
};

/// In a thought. Nobody asks for a thought that says the same 256 tokens long.
inline constexpr LoopRule kThoughtLoop{4, 256};
/// In an answer, which may have to hold a table of zeros, a rule of dashes, a refrain. One that is
/// asked to repeat a line goes on for 512 tokens.
inline constexpr LoopRule kAnswerLoop{4, 512};

/// Watches a sequence of tokens for exact repetition with any period up to kPeriodMax: for each
/// period, how many tokens in a row equal the one that many before. A repetition in which anything
/// changes, such as a counter, is no loop. 16 KB of memory, under 0.2 us a token; nothing is
/// allocated after construction. Not thread-safe.
class LoopDetector {
 public:
  /// Longest period in tokens: a long paragraph.
  static constexpr std::int64_t kPeriodMax = 512;

  explicit LoopDetector(const LoopRule& rule) { reset(rule); }
  /// Forgets all tokens.
  void reset(const LoopRule& rule);
  /// Takes the next token, id >= 0. True when it completes a loop, and for every token that
  /// continues it.
  bool feed(TokenId id);

 private:
  // Indexed by kPeriodMax - period, so that the ids at all distances lie in order of memory.
  std::vector<std::int32_t> same_;    ///< tokens in a row that equal the one a period before
  std::vector<std::int32_t> needed_;  ///< how many are a loop
  std::vector<TokenId> ids_;          ///< the last kPeriodMax and more, newest last
  std::size_t begin_ = 0;             ///< of the last kPeriodMax
};

}  // namespace r1::engine
