// What a caller may ask of one generation, and what it gets back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1 {

/// How the next token is chosen. An empty field takes the model file's `general.sampling.*` value,
/// else the default of the model family. Steps run in this order: logit bias, penalties,
/// temperature, top-k, top-p, min-p, draw; `temperature` 0 takes the most likely token (lowest id
/// on a tie).
struct SamplingOptions {
  std::optional<float> temperature = {};        ///< [0, 100]; below 1e-5 means greedy
  std::optional<std::int64_t> top_k = {};       ///< 0 or -1: off; above the vocabulary: off
  std::optional<float> top_p = {};              ///< [0, 1]; 1: off; at least one token stays
  std::optional<float> min_p = {};              ///< [0, 1]; 0: off; at least one token stays
  std::optional<float> repeat_penalty = {};     ///< (0, 100]; 1: off (CTRL, arXiv:1909.05858)
  std::optional<float> frequency_penalty = {};  ///< [-100, 100]; 0: off
  std::optional<float> presence_penalty = {};   ///< [-100, 100]; 0: off
  std::optional<std::int64_t> repeat_last_n =
      {};                                  ///< window of the penalties in tokens; 0: off, -1: all
  std::optional<std::uint64_t> seed = {};  ///< empty: drawn at random and reported in the result
  std::vector<std::pair<TokenId, float>> logit_bias =
      {};  ///< added to the raw logits; bias in [-1e30, 1e30]
};

/// What becomes of a conversation that no longer fits the context.
enum class Overflow {
  error,              ///< the prompt is refused: Error{context_length_exceeded}
  drop_oldest_turns,  ///< whole turns are left out, oldest first, until a quarter of the context,
                      ///< or max_tokens when that is less, is free for the answer; never the system
                      ///< prompt nor the last message
};

/// Everything that shapes one generation.
struct GenerationOptions {
  SamplingOptions sampling = {};
  std::int64_t max_tokens =
      -1;  ///< generated tokens at most, thought included; -1: until the context is full
  std::vector<std::string> stop = {};  ///< not empty strings; looked for in the answer, not in the
                                       ///< thought; the text before one is kept
  bool ignore_eos = false;             ///< go on past end-of-generation tokens
  bool enable_thinking = true;         ///< passed on to templates that know it
  /// Past these many tokens or seconds of thought (whichever comes first) the thought ends with its
  /// sentence, 32 tokens or a tenth later at the latest (at most 128), and the answer follows; a
  /// quarter of the tokens that may come, at most 256, is kept for it. 0: no thought. Empty: as the
  /// model likes.
  std::optional<std::int64_t> think_budget_tokens = {};
  std::optional<double> think_budget_seconds = {};  ///< of the thought's own time, finite
  bool json = false;             ///< the answer is a JSON object; a thought before it is free
  std::string json_schema = {};  ///< the answer satisfies this JSON Schema (a subset:
                                 ///< docs/json-schema.md); "": off
  Overflow overflow = Overflow::error;
  int priority = 0;            ///< higher goes first; one step is worth ten seconds of waiting
  std::string cache_key = {};  ///< prompts are recognised among those of the same key only, so that
                               ///< how fast one starts tells nothing about other keys' prompts
  int top_logprobs = -1;  ///< -1: no log-probabilities; 0 to 20: of each generated token, and of
                          ///< the so many most likely ones
};

/// Which part of an answer a piece belongs to.
enum class PieceKind { thought, answer };

/// A piece of generated text: whole UTF-8 characters only.
struct Piece {
  std::string text;
  PieceKind kind = PieceKind::answer;
};

/// Why a generation ended.
enum class FinishReason {
  stop,       ///< end-of-generation token or stop string
  length,     ///< max_tokens or the context is used up
  cancelled,  ///< the caller stopped it
  error,      ///< the model gave NaN or infinity; Generation::error says where
};

/// The field's usual spelling: "stop", "length", "cancelled", "error".
const char* to_string(FinishReason reason);

/// Why a thought ended.
enum class ThoughtEnd {
  none,    ///< there was none, or the generation ended inside it
  model,   ///< the model closed it
  budget,  ///< the thinking budget, or the room that is kept for the answer
  loop,    ///< it went round in a circle
  user,    ///< the caller ended it
};

/// "none", "model", "budget", "loop", "user".
const char* to_string(ThoughtEnd end);

/// Where the time of one generation went.
struct Timings {
  double prompt_ms = 0;             ///< template and tokenizer
  double queued_ms = 0;             ///< until its first forward pass began
  double ttft_ms = 0;               ///< prompt given to first token chosen
  double prefill_ms = 0;            ///< forward passes over the prompt
  double decode_ms = 0;             ///< first token to last token
  double total_ms = 0;              ///< prompt given to end
  double prefill_tokens_per_s = 0;  ///< 0 when nothing was prefilled
  double decode_tokens_per_s = 0;   ///< 0 when fewer than two tokens came
  double gap_p50_ms = 0;            ///< between two chosen tokens: the median,
  double gap_p95_ms = 0;            ///< percentiles
  double gap_p99_ms = 0;
  double gap_max_ms = 0;            ///< and the longest; all 0 when fewer than two came
  double sampling_ms = 0;           ///< choosing tokens, of decode_ms and before
  std::int64_t prefill_tokens = 0;  ///< computed for the prompt, those not cached
  std::int64_t thought_tokens = 0;  ///< generated or forced, tags included
  std::int64_t answer_tokens = 0;   ///< an end token included
  std::int64_t kv_pages = 0;        ///< held at most
};

/// How likely the model itself found a generated token: log-softmax of the raw logits over the ids
/// that may be generated at all, before masks, bias, penalties, temperature and cuts.
struct TokenLogprob {
  TokenId id = -1;
  double logprob = 0;                                ///< natural logarithm, <= 0
  std::vector<std::pair<TokenId, double>> top = {};  ///< most likely first; ties: lower id first
};

/// A finished generation.
struct Generation {
  std::string text;       ///< the answer
  std::string reasoning;  ///< the thought, without its tags
  FinishReason finish_reason = FinishReason::stop;
  ThoughtEnd thought_end = ThoughtEnd::none;
  bool loop = false;                      ///< the answer went round in a circle and was cut: length
  std::string error;                      ///< one line, set with FinishReason::error
  std::vector<TokenId> prompt_token_ids;  ///< the whole prompt, BOS included
  std::vector<TokenId> token_ids;         ///< generated, thought included, end token excluded
  std::vector<TokenLogprob> logprobs;     ///< of each of token_ids, if asked for; 0 and no
                                          ///< others for those that closed a thought
  std::int64_t dropped_messages = 0;      ///< of the conversation, left out by Overflow, in all
  std::int64_t cached_tokens = 0;         ///< prompt tokens whose KV was there already
  std::uint64_t seed = 0;                 ///< the seed in use
  Timings timings;
};

}  // namespace r1
