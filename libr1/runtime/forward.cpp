// The forward pass. Every member of the team runs the same Pass; phases that need each other's
// results are separated by barriers. What a row computes never depends on its neighbours: norms and
// encodings are by row, matmul kernels are bitwise independent of m, attention visits pages in
// order.
#include "libr1/runtime/forward.hpp"

#include <algorithm>

#include "kernels/api/pack.hpp"
#include "libr1/runtime/linear.hpp"

namespace r1::runtime {
namespace {

// Layers whose activations are encoded with their remainders: most of what int8 activations cost
// comes from the first ones (docs/decisions/fine-first-layer.md).
constexpr std::int64_t kFineAttentionLayers = 2;
constexpr std::int64_t kFineFfnLayers = 1;

base::AlignedBuffer floats(std::int64_t count, const char* what) {
  return base::AlignedBuffer(static_cast<std::size_t>(count) * sizeof(float), what);
}

float* as_floats(base::AlignedBuffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

}  // namespace

/// One worker's way through a step.
class Forward::Pass {
 public:
  Pass(Forward& forward, base::Worker& worker)
      : f_(forward),
        config_(forward.config_),
        worker_(worker),
        m_(static_cast<std::int64_t>(forward.tokens_.size())),
        hidden_(as_floats(f_.hidden_)),
        gate_(as_floats(f_.gate_)),
        up_(as_floats(f_.up_) + worker.index() * gated_scratch(f_.rows_max_, config_.ffn)),
        scratch_(as_floats(f_.scratch_) + 2 * worker.index() * scratch_width(config_)),
        remainder_(scratch_ + scratch_width(config_)) {}

  /// Each worker has two scratch rows of this width.
  static std::int64_t scratch_width(const model::Config& config) {
    return (std::max({config.hidden, config.ffn, config.heads * config.head_dim}) + 15) / 16 * 16;
  }

  void run() noexcept {
    embed();
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      attention_block(layer);
      ffn_block(layer);
    }
    output();
  }

 private:
  // Tells the probe; a single row is encoded by every worker for itself, but shown once.
  void show(Stage stage, std::int64_t layer, std::int64_t row, const float* values,
            std::int64_t count) const noexcept {
    if (f_.probe_ && (!single_ || worker_.index() == 0)) {
      f_.probe_(stage, layer, row, {values, static_cast<std::size_t>(count)});
    }
  }

  void embed() noexcept {
    const model::Matrix& table = f_.model_.weights.embedding;
    const base::Range mine = worker_.slice(m_);
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      kernels::decode_packed_row(table.type, table.panels, table.k,
                                 f_.tokens_[static_cast<std::size_t>(row)],
                                 hidden_ + row * config_.hidden);
    }
    worker_.barrier();
  }

  // Encodes rows [0, rows); produce(row) gives a row's values. A single row is encoded by every
  // worker for itself, which is cheaper than a barrier.
  template <class Produce>
  const EncodedRows& encode(EncodingSet set, std::int64_t rows, std::int64_t k,
                            Produce produce) noexcept {
    single_ = rows == 1;
    if (single_) {
      EncodedRows& own = *f_.private_encoded_[static_cast<std::size_t>(worker_.index())];
      own.encode(f_.table_, set, produce(0), k, 0, remainder_);
      return own;
    }
    const base::Range mine = worker_.slice(rows);
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      f_.encoded_.encode(f_.table_, set, produce(row), k, row, remainder_);
    }
    worker_.barrier();
    return f_.encoded_;
  }

  // The range that the next region's panels are taken from. The one after next is started anew:
  // its last region ended before the barrier in front of the one that ended last.
  base::SharedRange& next_work() noexcept {
    const std::size_t index = region_++ % f_.work_.size();
    if (worker_.index() == 0) f_.work_[(index + 2) % f_.work_.size()].reset();
    return f_.work_[index];
  }

  const float* normalized(std::int64_t row, const std::vector<float>& weight) noexcept {
    f_.table_.floats->rms_norm(hidden_ + row * config_.hidden, weight.data(), config_.hidden,
                               config_.rms_eps, scratch_);
    return scratch_;
  }

  void attention_block(std::int64_t index) noexcept {
    const model::Layer& layer = f_.model_.weights.layers[static_cast<std::size_t>(index)];
    Attention& attention = f_.attention_;
    const std::int64_t q_width = attention.q_width();
    const bool fine = index < kFineAttentionLayers;
    EncodingSet set{.fine = fine};
    for (const auto* matrix : {&layer.q, &layer.k, &layer.v}) set.add(matrix->type);
    const EncodedRows& x = encode(set, m_, config_.hidden, [&](std::int64_t row) {
      show(Stage::hidden, index, row, hidden_ + row * config_.hidden, config_.hidden);
      const float* input = normalized(row, layer.attn_norm);
      show(Stage::attention, index, row, input, config_.hidden);
      return input;
    });
    const LinearPart qkv[] = {
        {&layer.q, attention.q(), q_width, layer.q_bias.data()},
        {&layer.k, attention.k(), attention.kv_width(), attention.key_bias(index)},
        {&layer.v, attention.v(), attention.kv_width(), layer.v_bias.data()}};
    linear(f_.table_, worker_, next_work(), x, m_, qkv, fine);
    worker_.barrier();

    attention.rotate_and_store(index, worker_);
    worker_.barrier();
    attention.attend(index, worker_);
    worker_.barrier();

    EncodingSet output_set{.fine = fine};
    output_set.add(layer.o.type);
    const EncodedRows& attended = encode(output_set, m_, q_width, [&](std::int64_t row) {
      const float* input = attention.out() + row * q_width;
      show(Stage::attended, index, row, input, q_width);
      return input;
    });
    const LinearPart o[] = {{&layer.o, hidden_, config_.hidden, nullptr, hidden_}};
    linear(f_.table_, worker_, next_work(), attended, m_, o, fine);
    worker_.barrier();
  }

  void ffn_block(std::int64_t index) noexcept {
    const model::Layer& layer = f_.model_.weights.layers[static_cast<std::size_t>(index)];
    const bool fine = index < kFineFfnLayers;
    EncodingSet set{.fine = fine};
    set.add(layer.gate.type);
    set.add(layer.up.type);
    const EncodedRows& x = encode(set, m_, config_.hidden, [&](std::int64_t row) {
      const float* input = normalized(row, layer.ffn_norm);
      show(Stage::ffn, index, row, input, config_.hidden);
      return input;
    });
    gated_linear(f_.table_, worker_, next_work(), x, m_, {&layer.gate, gate_, config_.ffn},
                 layer.up, up_, fine);
    worker_.barrier();

    EncodingSet down_set{.fine = fine};
    down_set.add(layer.down.type);
    const EncodedRows& activated = encode(down_set, m_, config_.ffn, [&](std::int64_t row) {
      const float* input = gate_ + row * config_.ffn;
      show(Stage::activated, index, row, input, config_.ffn);
      return input;
    });
    const LinearPart down[] = {{&layer.down, hidden_, config_.hidden, nullptr, hidden_}};
    linear(f_.table_, worker_, next_work(), activated, m_, down, fine);
    worker_.barrier();
  }

  void output() noexcept {
    const auto rows = static_cast<std::int64_t>(f_.logit_rows_.size());
    if (rows == 0) return;
    const model::Weights& weights = f_.model_.weights;
    EncodingSet set;
    set.add(weights.output.type);
    const EncodedRows& x = encode(set, rows, config_.hidden, [&](std::int64_t row) {
      const std::int64_t from = f_.logit_rows_[static_cast<std::size_t>(row)];
      show(Stage::hidden, config_.layers, from, hidden_ + from * config_.hidden, config_.hidden);
      const float* input = normalized(from, weights.output_norm);
      show(Stage::output, config_.layers, from, input, config_.hidden);
      return input;
    });
    const LinearPart logits[] = {{&weights.output, f_.logits_.data(), config_.vocab}};
    linear(f_.table_, worker_, next_work(), x, rows, logits);
  }

  Forward& f_;
  const model::Config& config_;
  base::Worker& worker_;
  std::int64_t m_;
  float* hidden_;
  float* gate_;
  float* up_;
  float* scratch_;
  float* remainder_;
  std::size_t region_ = 0;
  bool single_ = false;  ///< one row is being encoded
};

Forward::Forward(const model::LoadedModel& model, const kernels::KernelTable& table,
                 base::ThreadTeam& team, kernels::KvType kv_type, std::int64_t rows_max,
                 std::int64_t positions_max)
    : model_(model),
      config_(model.config),
      table_(table),
      team_(team),
      attention_(model, table, kv_type, team.size(), rows_max, positions_max),
      rows_max_(rows_max),
      hidden_(floats(rows_max * config_.hidden, "activations")),
      gate_(floats(rows_max * config_.ffn, "gates")),
      up_(floats(team.size() * gated_scratch(rows_max, config_.ffn), "up projections")),
      scratch_(floats(2 * team.size() * Pass::scratch_width(config_), "scratch rows")),
      encoded_(rows_max,
               std::max({config_.hidden, config_.ffn, config_.heads * config_.head_dim})) {
  tokens_.reserve(static_cast<std::size_t>(rows_max));
  logit_rows_.reserve(static_cast<std::size_t>(rows_max));
  for (int worker = 0; worker < team.size(); ++worker) {
    private_encoded_.push_back(std::make_unique<EncodedRows>(
        1, std::max({config_.hidden, config_.ffn, config_.heads * config_.head_dim})));
  }
}

Forward::~Forward() = default;

void Forward::plan(std::span<const SequenceStep> sequences) {
  tokens_.clear();
  logit_rows_.clear();
  attention_.clear();
  for (const SequenceStep& sequence : sequences) {
    const auto first_row = static_cast<std::int64_t>(tokens_.size());
    const auto count = static_cast<std::int64_t>(sequence.tokens.size());
    tokens_.insert(tokens_.end(), sequence.tokens.begin(), sequence.tokens.end());
    attention_.add(*sequence.kv, sequence.first_position, count);
    const std::int64_t wanted = sequence.logits == LogitRows::all    ? count
                                : sequence.logits == LogitRows::last ? 1
                                                                     : 0;
    for (std::int64_t i = count - wanted; i < count; ++i) logit_rows_.push_back(first_row + i);
  }
}

std::span<const float> Forward::step(std::span<const SequenceStep> sequences, int threads) {
  plan(sequences);
  const std::size_t logits = logit_rows_.size() * static_cast<std::size_t>(config_.vocab);
  if (logits_.size() < logits) logits_.resize(logits);
  for (base::SharedRange& work : work_) work.reset();
  team_.run([this](base::Worker& worker) { Pass(*this, worker).run(); }, threads);
  return {logits_.data(), logits};
}

}  // namespace r1::runtime
