// The trained model tiny-r1 as tests use it: its files, its reference numbers, its problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "r1/model.hpp"

namespace r1::support {

/// One case of reference.json: numbers of an independent float32 forward pass over the BF16
/// weights.
struct ReferenceCase {
  std::string id;
  std::vector<TokenId> tokens;   ///< the prompt, BOS included
  std::vector<TokenId> top_ids;  ///< the 20 best next tokens after the prompt
  std::vector<double> top_logits;
  double prompt_logprob = 0;        ///< sum over the prompt's tokens but the first
  std::vector<TokenId> greedy;      ///< continuation, cut at its end of text
  bool greedy_ends = false;         ///< the end of text comes right after `greedy`
  std::vector<double> greedy_lead;  ///< each choice's logit minus the second best one's
};

/// A held-out problem and its answer's numbers by name.
struct Problem {
  std::string id, kind, prompt;
  std::vector<std::int64_t>
      answer;  ///< chickens and rabbits, or x, or the result; empty: no solution
};

/// Cases of models/tiny-r1/reference.json.
std::vector<ReferenceCase> reference_cases();
/// Problems of models/tiny-r1/problems_heldout.jsonl.
std::vector<Problem> heldout_problems();
/// True when an answer's text gives exactly the right numbers (the rules of
/// training/generate_problems.py).
bool is_right(const Problem& problem, const std::string& answer);

/// The GGUF that the tools embed.
std::string embedded_path();
/// A GGUF image of the BF16 weights in models/tiny-r1/hf.
std::vector<std::byte> bf16_image();
/// Path of the file of a type ("Q4_K_M", "F16" ...) where the shared data are; empty when they are
/// not.
std::string shared_path(const std::string& type);

}  // namespace r1::support
