// The Qwen2 forward pass: one path for prefill, decode and any number of sequences.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/api/table.hpp"
#include "libr1/base/shared_range.hpp"
#include "libr1/base/thread_team.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/attention.hpp"
#include "libr1/runtime/encoded_rows.hpp"
#include "libr1/runtime/kv_sequence.hpp"

namespace r1::runtime {

/// Rows of a sequence that need logits.
enum class LogitRows { none, last, all };

/// What one sequence does in a step: some tokens at consecutive positions.
struct SequenceStep {
  std::span<const TokenId> tokens;  ///< at least one; ids within the vocabulary
  std::int64_t first_position = 0;
  KvSequence* kv = nullptr;  ///< has room for first_position + tokens.size() positions
  LogitRows logits = LogitRows::last;
};

/// Where a probe looks.
enum class Stage {
  hidden,     ///< the residual stream at the start of a layer, and after the last one
  attention,  ///< input of q, k and v: the normalised hidden state
  attended,   ///< input of o: the attention's output
  ffn,        ///< input of gate and up
  activated,  ///< input of down: SiLU(gate) * up
  output,     ///< input of the output matrix
};

/// Runs steps on a team. A row's result does not depend on what else is in the step, nor on the
/// number of threads. Not thread-safe.
class Forward {
 public:
  /// `rows_max`: tokens a step may have. `positions_max`: the longest sequence. The references must
  /// outlive this. Throws Error{out_of_memory}.
  Forward(const model::LoadedModel& model, const kernels::KernelTable& table,
          base::ThreadTeam& team, kernels::KvType kv_type, std::int64_t rows_max,
          std::int64_t positions_max);
  ~Forward();

  /// Computes one step with `threads` members of the team (0: all). Returns the logits of the rows
  /// that wanted them, in order: [rows, vocab], valid until the next step.
  std::span<const float> step(std::span<const SequenceStep> sequences, int threads = 0);

  std::int64_t rows_max() const { return rows_max_; }

  /// Sees rows of float values on their way: what goes into every matrix, and the hidden states.
  /// `layer` is the number of layers for what comes after the last. Called by the thread that
  /// computes the row, so from several at once in a step of more than one thread.
  using Probe = std::function<void(Stage stage, std::int64_t layer, std::int64_t row,
                                   std::span<const float> values)>;
  void set_probe(Probe probe) { probe_ = std::move(probe); }

 private:
  class Pass;

  void plan(std::span<const SequenceStep> sequences);

  const model::LoadedModel& model_;
  const model::Config& config_;
  const kernels::KernelTable& table_;
  base::ThreadTeam& team_;
  Attention attention_;
  std::int64_t rows_max_;

  // The step being computed.
  std::vector<TokenId> tokens_;
  std::vector<std::int64_t> logit_rows_;
  Probe probe_;

  // What the regions' panels are taken from, in turn.
  std::array<base::SharedRange, 4> work_;

  // Activations, [rows_max, width] float32; up_ is scratch of each worker.
  base::AlignedBuffer hidden_, gate_, up_, scratch_;
  EncodedRows encoded_;
  std::vector<std::unique_ptr<EncodedRows>>
      private_encoded_;  ///< one row a worker, for steps of one row
  std::vector<float> logits_;
};

}  // namespace r1::runtime
