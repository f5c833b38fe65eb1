// Where texts begin and end. Decided by the spelling that ids have in this very file, never by
// number: 151645 ends a turn in Qwen2.5 and opens the assistant's in the R1 distills.
//
// Begin (BOS). Put first when the file says add_bos_token = true and names a token, or is an R1
// distill, whose begin-of-sentence token is then found by its spelling. A missing flag means false.
// Vocabularies with ChatML markers (Qwen2.5, QwQ, Qwen3) were trained without BOS and never get
// one, whatever the file says.
//
// End. The declared EOS and EOT, and every added token that one of the families ends with. The
// Assistant marker of a distill is no end even if a file declares it, since it opens the answer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libr1/text/utf8.hpp"
#include "libr1/text/vocabulary.hpp"
#include "libr1/text/well_known_tokens.hpp"
#include "r1/error.hpp"

namespace r1::text {
namespace {

/// The declared id, -1 when there is none.
TokenId declared_id(const TokenizerSpec& spec, std::string_view key,
                    const std::optional<std::int64_t>& id) {
  if (!id) return -1;
  const auto count = static_cast<std::int64_t>(spec.tokens.size());
  if (*id < 0 || *id >= count) {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: tokenizer.ggml.{}: expected an id from 0 to {}, got {}", spec.file,
                            key, count - 1, *id));
  }
  return static_cast<TokenId>(*id);
}

}  // namespace

void Vocabulary::settle_end(const TokenizerSpec& spec, const WarningSink& warn) {
  eos_ = declared_id(spec, "eos_token_id", spec.eos);
  TokenId eot = declared_id(spec, "eot_token_id", spec.eot);
  const TokenId assistant = is_r1_ ? find_added(kR1Assistant) : -1;
  if (assistant >= 0 && (eos_ == assistant || eot == assistant)) {
    if (warn) {
      warn(fmt::format(
          "{}: tokenizer.ggml.{}: {} is the marker '{}' that opens an answer; it does not end one",
          spec.file, eos_ == assistant ? "eos_token_id" : "eot_token_id", assistant, kR1Assistant));
    }
    if (eos_ == assistant) eos_ = -1;
    if (eot == assistant) eot = -1;
  }
  for (const TokenId id : {eos_, eot, find_added(kR1End), find_added(kImEnd),
                           find_added(kEndOfText), find_added(kEot)}) {
    if (id >= 0) end_of_generation_.push_back(id);
  }
  if (end_of_generation_.empty()) {
    if (warn) {
      warn(fmt::format(
          "{}: tokenizer.ggml.eos_token_id: expected an id, got none; only a limit of length ends "
          "an answer",
          spec.file));
    }
    return;
  }
  if (eos_ < 0) {
    eos_ = end_of_generation_.front();
    if (warn) {
      warn(fmt::format(
          "{}: tokenizer.ggml.eos_token_id: expected an id, got none that can be used; {} '{}' is "
          "taken",
          spec.file, eos_, printable(bytes(eos_))));
    }
  }
  std::sort(end_of_generation_.begin(), end_of_generation_.end());
  end_of_generation_.erase(std::unique(end_of_generation_.begin(), end_of_generation_.end()),
                           end_of_generation_.end());
}

void Vocabulary::settle_bos(const TokenizerSpec& spec, const WarningSink& warn) {
  bos_ = declared_id(spec, "bos_token_id", spec.bos);
  const bool is_chatml = !is_r1_ && find_added(kImStart) >= 0 && find_added(kImEnd) >= 0;
  if (bos_ < 0 && is_r1_) bos_ = find_added(kR1Begin);
  const bool wanted = spec.add_bos.value_or(false);
  adds_bos_ = wanted && bos_ >= 0 && !is_chatml;
  if (!wanted || adds_bos_ || !warn) return;
  warn(fmt::format("{}: tokenizer.ggml.add_bos_token: true, but {}; no token is put before prompts",
                   spec.file,
                   is_chatml ? "models with this vocabulary are trained without one"
                             : "the file names no bos_token_id"));
}

}  // namespace r1::text
