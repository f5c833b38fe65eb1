// Attention of one step: rotary embedding of queries and keys, the write into the KV pages, and the
// jobs of attending to them. Projections before and after it are the forward pass's business.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"
#include "libr1/base/thread_team.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/key_bias.hpp"
#include "libr1/runtime/kv_sequence.hpp"
#include "libr1/runtime/rope_table.hpp"

namespace r1::runtime {

/// The rows of a step, their queries, keys and values, and where they attend to. A row's output
/// does not depend on the other rows, nor on the number of threads.
class Attention {
 public:
  /// `workers`: threads a step may have. `rows_max`: rows it may have. `positions_max`: the longest
  /// sequence. The references must outlive this. Throws Error{out_of_memory}.
  Attention(const model::LoadedModel& model, const kernels::KernelTable& table,
            kernels::KvType kv_type, int workers, std::int64_t rows_max,
            std::int64_t positions_max);

  /// Forgets the rows of the step before.
  void clear();
  /// Adds `count` rows of one sequence at consecutive positions. `kv` has room for all of them and
  /// outlives the step.
  void add(const KvSequence& kv, std::int64_t first_position, std::int64_t count);

  /// Floats of a row of q and out: heads * head_dim.
  std::int64_t q_width() const { return q_width_; }
  /// Floats of a row of k and v: kv_heads * head_dim.
  std::int64_t kv_width() const { return kv_width_; }
  /// The projections' outputs, [rows, width]: written by the forward pass, rotated in place here.
  float* q() { return as_floats(q_); }
  float* k() { return as_floats(k_); }
  float* v() { return as_floats(v_); }
  /// [rows, q_width()], complete once every worker is back from attend().
  const float* out() const { return reinterpret_cast<const float*>(out_.data()); }
  /// [kv_width()]: the part of a layer's key bias that the K projection adds.
  const float* key_bias(std::int64_t layer) const {
    return key_bias_.layers[static_cast<std::size_t>(layer)].kept.data();
  }

  /// The worker's share of the rows: rotates them and writes their keys and values. Needs the
  /// projections of all rows; a barrier must follow.
  void rotate_and_store(std::int64_t layer, const base::Worker& worker) noexcept;
  /// Attends until nothing is left to do. Every worker of the step calls it; a barrier must follow.
  void attend(std::int64_t layer, const base::Worker& worker) noexcept;

 private:
  struct Row {
    std::int64_t position;
    const KvSequence* kv;
  };
  /// Some rows of a sequence and one KV head.
  struct Block {
    std::int64_t first_row;
    std::int64_t rows;
    std::int64_t kv_head;
  };
  /// A block whose spans are attended to in several jobs; the last one to end folds the parts.
  struct Split {
    std::int64_t first_span;
    std::int64_t spans;
    std::int64_t jobs;
    std::int64_t first_vector;  ///< of its parts in parts_ and states_
  };
  /// A whole block, or some spans of a split one.
  struct Job {
    Block block;
    std::int64_t split = -1;  ///< index into splits_, or -1
    base::Range spans;        ///< counted from the split's first
  };

  static float* as_floats(base::AlignedBuffer& buffer) {
    return reinterpret_cast<float*>(buffer.data());
  }
  void gather_bias_tables();
  void rotate_and_store_row(std::int64_t layer, std::int64_t row) noexcept;
  void project_bias(std::int64_t layer, std::int64_t row, std::int64_t head) noexcept;
  void add_block(const Block& block);
  kernels::AttentionArgs arguments(std::int64_t layer, const Block& block) noexcept;
  void attend_spans(const kernels::AttentionArgs& whole, const Job& job) noexcept;
  const std::vector<ApartPair>& apart(std::int64_t layer, std::int64_t head) const;
  float* bias_q(std::int64_t head);

  const model::Config& config_;
  const kernels::FloatKernels& kernels_;
  KvLayout layout_;
  KeyBias key_bias_;
  RopeTable rope_;
  std::int64_t rows_max_;
  std::int64_t workers_;
  std::int64_t group_;
  std::int64_t q_width_;
  std::int64_t kv_width_;

  std::vector<Row> rows_;
  std::vector<Job> jobs_;
  std::vector<Split> splits_;
  std::vector<std::atomic<std::int64_t>> jobs_left_;  ///< by split; full again after its fold
  std::atomic<std::int64_t> next_job_{0};

  base::AlignedBuffer q_, k_, v_, out_, bias_q_;
  base::AlignedBuffer scratch_;                ///< the kernels', by worker
  std::int64_t part_vectors_ = 0;              ///< of parts_ in use in this step
  std::vector<kernels::SoftmaxState> states_;  ///< [vectors]
  base::AlignedBuffer parts_;                  ///< [vectors, head_dim]: results of single spans
  std::vector<const float*> bias_tables_;      ///< [layers][kv_heads][terms_max]
};

}  // namespace r1::runtime
