// What this machine can do, what a step of a model takes of it, and how long it takes: what speed
// is stated in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "r1/engine.hpp"
#include "r1/model.hpp"

namespace r1 {

/// How limits are measured. 0 and "" mean what they mean in EngineOptions.
struct LimitOptions {
  int threads = 0;        ///< that read memory and meet at barriers
  int threads_batch = 0;  ///< that multiply; default: `threads`
  std::string isa = {};   ///< tier whose instructions are used
  double seconds = 1;     ///< of one round of reading; (0, 60]
  int rounds = 5;         ///< rounds of reading, the best one counts; 1 to 100
  std::int64_t buffer_bytes = std::int64_t{1} << 30;      ///< that are read; at least 1 MiB
  std::function<void(double fraction)> on_progress = {};  ///< 0..1, now and then
};

/// Limits of this machine, of all threads together.
struct Limits {
  std::string isa;                   ///< tier that was measured
  int threads = 0;                   ///< that read memory
  int threads_batch = 0;             ///< that multiplied
  double read_bytes_per_s = 0;       ///< normal pages
  double read_bytes_per_s_huge = 0;  ///< pages for which huge ones were asked
  double byte_macs_per_s = 0;        ///< the tier's byte multiplication alone
  double float_macs_per_s = 0;       ///< float32 multiply-adds
  double bf16_macs_per_s = 0;        ///< bfloat16 dot product; 0: tier or CPU have none
  double barrier_seconds = 0;        ///< one barrier of `threads`

  /// The higher of the two read bandwidths.
  double best_read() const;
  /// Takes over what is better in `other`, of the same tier and threads.
  void merge(const Limits& other);
};

/// Measures this machine with a team of threads as engines use it. Takes about 2 x rounds x
/// seconds, and a little. Throws Error{invalid_argument, out_of_memory}.
Limits measure_limits(const LimitOptions& options = {});

/// What a step has to read and multiply, by the sizes of the model file (never of packed weights).
struct StepCost {
  /// Bytes in the file of all layers' matrices, norms and biases, the output norm and the output
  /// matrix: what a step reads once, whatever its batch.
  std::int64_t weight_bytes = 0;
  std::int64_t embedding_row_bytes = 0;    ///< what it reads besides for each of its tokens
  std::int64_t kv_bytes_per_position = 0;  ///< keys and values of one position, all layers
  std::int64_t window = 0;                 ///< positions that attention sees; 0: all before it
  /// Multiply-adds a token of the layers' seven matrices: those with quantized weights, and those
  /// with F32, F16 or BF16 weights.
  std::int64_t quantized_macs = 0;
  std::int64_t float_macs = 0;
  /// Multiply-adds of attention a token and position that it sees, all layers.
  std::int64_t attention_macs_per_position = 0;

  /// Bytes that a decode step of `batch` sequences reads, the new token of each at position
  /// `depth`.
  double decode_bytes(std::int64_t batch, double depth) const;
  /// Multiply-adds of attention of a prompt of `tokens` tokens behind `depth` others.
  double attention_macs(std::int64_t tokens, std::int64_t depth) const;
};

/// The cost of steps of `model`.
StepCost step_cost(const Model& model, KvType kv_type = KvType::f16);

/// Where the seconds of one step went. A norm and an encoding count to the matrix that they are
/// for.
struct StageSeconds {
  double embedding = 0;
  double attention = 0;         ///< q, k, v, rotation, KV write and attention itself, all layers
  double attention_output = 0;  ///< o, all layers
  double gate_up = 0;           ///< gate, up and SiLU, all layers
  double down = 0;              ///< all layers
  double output = 0;            ///< the output matrix, for rows that have logits

  /// All of them.
  double total() const;
};

namespace engine {
class StepTimerImpl;
}

/// Runs the forward pass alone, without sampling and text, and times it. What lies before the
/// tokens of a test (its depth) is not computed: the KV cache is filled with seeded random keys and
/// values, which cost as much to attend to as real ones. Tokens are random as well. Not
/// thread-safe. Every step's logits have to be finite.
class StepTimer {
 public:
  /// options.kv_tokens: the longest depth and tokens of a test; options.batch_size: the prefill
  /// chunk and the most sequences. Throws Error{invalid_argument, out_of_memory}.
  explicit StepTimer(Model model, const EngineOptions& options = {});
  ~StepTimer();
  StepTimer(StepTimer&&) noexcept;
  StepTimer& operator=(StepTimer&&) noexcept;

  const EngineInfo& info() const;
  /// Seconds for a prompt of `tokens` tokens behind `depth` others, logits of the last one
  /// included. Throws Error{invalid_argument, out_of_memory, non_finite}.
  double prefill(std::int64_t tokens, std::int64_t depth = 0);
  /// Seconds of each of `steps` steps that give `batch` sequences one token each, the first one at
  /// position `depth`. Throws as prefill().
  std::vector<double> decode(std::int64_t steps, std::int64_t depth = 0, std::int64_t batch = 1);
  /// Where the time of one step goes that gives `batch` sequences `tokens` tokens each behind
  /// `depth` others, with logits of the last ones: the fastest of `repetitions` steps. tokens x
  /// batch: at most options.batch_size. Throws as prefill().
  StageSeconds stages(std::int64_t tokens, std::int64_t depth = 0, std::int64_t batch = 1,
                      int repetitions = 1);

 private:
  std::unique_ptr<engine::StepTimerImpl> impl_;
};

/// Starts the peak of peak_memory_bytes() anew at what is resident now. False where the system
/// cannot do so.
bool reset_peak_memory();

}  // namespace r1
