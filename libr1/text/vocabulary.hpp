// The checked vocabulary of one model file: what each id spells, which kind it is, which ids begin
// and end texts. The tokenizer puts the encoder on top of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libr1/text/bpe.hpp"
#include "libr1/text/tokenizer.hpp"
#include "libr1/text/tokenizer_spec.hpp"

namespace r1::text {

/// Where warnings go; may be empty.
using WarningSink = std::function<void(std::string_view)>;

/// Immutable once made, thread-safe.
class Vocabulary {
 public:
  /// Checks `spec` and settles what it leaves open, with one warning line for each guess. Throws
  /// Error{bad_file} for values that contradict each other.
  Vocabulary(const TokenizerSpec& spec, const WarningSink& warn);

  /// See text::Tokenizer for all of these.
  const std::string& bytes(TokenId id) const;
  TokenKind kind(TokenId id) const;
  bool is_samplable(TokenId id) const;
  bool is_end_of_generation(TokenId id) const;
  TokenId find(std::string_view utf8) const;
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  TokenId bos() const { return bos_; }
  TokenId eos() const { return eos_; }
  bool adds_bos() const { return adds_bos_; }
  bool is_r1() const { return is_r1_; }
  const std::vector<TokenId>& end_of_generation() const { return end_of_generation_; }

  /// True for control and user-defined tokens: those that template text may contain.
  bool is_added(TokenId id) const;
  /// The normal token of each byte, -1 where there is none.
  const std::array<TokenId, 256>& byte_ids() const { return byte_ids_; }
  /// Hands out the merge rules in order of rank; empty afterwards.
  std::vector<BpeMerge> take_merges() { return std::move(merges_); }

 private:
  bool in_range(TokenId id) const { return id >= 0 && id < size(); }
  TokenId find_added(std::string_view utf8) const;
  void read_kinds(const TokenizerSpec& spec, const WarningSink& warn);
  void promote_well_known(const TokenizerSpec& spec, const WarningSink& warn);
  void read_bytes(const TokenizerSpec& spec);
  void index_bytes(const TokenizerSpec& spec, const WarningSink& warn);
  void read_merges(const TokenizerSpec& spec, const WarningSink& warn);
  void settle_bos(const TokenizerSpec& spec, const WarningSink& warn);
  void settle_end(const TokenizerSpec& spec, const WarningSink& warn);

  std::string no_bytes_;  ///< what bytes() refers to for ids out of range
  std::vector<std::string> bytes_;
  std::vector<TokenKind> kinds_;
  std::vector<TokenId> by_bytes_;  ///< named ids, by bytes, added tokens first, then by id
  std::array<TokenId, 256> byte_ids_{};
  std::vector<BpeMerge> merges_;
  std::vector<TokenId> end_of_generation_;  ///< ascending
  TokenId bos_ = -1;
  TokenId eos_ = -1;
  bool adds_bos_ = false;
  bool is_r1_ = false;
};

}  // namespace r1::text
