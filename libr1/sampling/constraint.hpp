// Which tokens may come next so that an answer is the JSON that was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libr1/sampling/token_trie.hpp"
#include "libr1/text/json/machine.hpp"

namespace r1::sampling {

/// A compiled schema over one vocabulary. Immutable, thread-safe; worth keeping for requests with
/// the same schema.
class Constraint {
 public:
  /// Answers that satisfy a JSON Schema (docs/json-schema.md). Throws as
  /// text::json::parse_schema().
  static std::shared_ptr<const Constraint> from_schema(std::shared_ptr<const TokenTrie> tokens,
                                                       std::string_view schema);
  /// Answers that are some JSON object.
  static std::shared_ptr<const Constraint> any_object(std::shared_ptr<const TokenTrie> tokens);

  Constraint(std::shared_ptr<const TokenTrie> tokens,
             std::shared_ptr<const text::json::Grammar> grammar)
      : tokens_(std::move(tokens)), grammar_(std::move(grammar)) {}

  const TokenTrie& tokens() const { return *tokens_; }
  const std::shared_ptr<const text::json::Grammar>& grammar() const { return grammar_; }

 private:
  std::shared_ptr<const TokenTrie> tokens_;
  std::shared_ptr<const text::json::Grammar> grammar_;
};

/// One answer on its way. Copies go on independently. Not thread-safe. Allocates nothing once
/// warm, but for schemas that nest deeper than before.
class ConstraintState {
 public:
  /// At the answer's first token: a thought is none of its business.
  explicit ConstraintState(std::shared_ptr<const Constraint> constraint);

  /// The tokens that may come next, one bit an id; never none. Valid until accept(). Ids that end a
  /// generation are among them when the document may end, and alone when it must. bench_constraint
  /// has the time it takes.
  std::span<const std::uint64_t> allowed();
  /// Takes the chosen token. False, and nothing happened, when it was not allowed.
  bool accept(TokenId token);
  /// True when the document may end here.
  bool complete() const;
  /// True when nothing but the end may come: a caller need not ask the model for it.
  bool must_end() const;

 private:
  using Places = std::vector<text::json::Frame>;

  static constexpr std::ptrdiff_t kUnknown = -1;   ///< to be computed
  static constexpr std::ptrdiff_t kComputed = -2;  ///< mask_

  /// A mask that was costly, and what it is of.
  struct Known {
    Places places;
    TokenMask mask;
  };
  /// Places after a number of bytes of a token, in reached_, and the levels that they stand on.
  struct Reached {
    std::size_t begin;
    std::size_t end;
    std::size_t levels;
  };

  void compute();
  /// Allows the tokens of a part that can follow `from_`. Returns nodes looked at.
  std::size_t walk(TokenTrie::Part part);
  /// Allows what follows text node `index` in a string; true when that is all that can follow.
  bool allow_string_rest(std::size_t index, std::size_t begin);
  void remember();

  std::shared_ptr<const Constraint> constraint_;
  text::json::Machine machine_;
  Places places_;
  Places next_;  ///< scratch of accept()
  TokenMask mask_;
  std::ptrdiff_t current_ = kUnknown;  ///< index in known_, or one of these:
  std::vector<Known> known_;
  std::size_t oldest_ = 0;  ///< of known_
  Places from_;             ///< scratch of compute(): where a walk begins
  Places reached_;          ///< scratch of walk()
  std::vector<Reached> by_depth_;
};

}  // namespace r1::sampling
