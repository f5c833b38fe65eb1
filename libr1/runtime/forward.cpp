// The forward pass. Every member of the team runs the same Pass; phases that need each other's
// results are separated by barriers. What a row computes never depends on its neighbours: norms and
// encodings are by row, matmul kernels are bitwise independent of m, attention visits pages in
// order.
#include "libr1/runtime/forward.hpp"

#include <algorithm>
#include <cmath>

#include "libr1/runtime/linear.hpp"

namespace r1::runtime {
namespace {

// Layers whose activations are encoded with their remainders: most of what int8 activations cost
// comes from the first ones (docs/decisions/fine-first-layer.md).
constexpr std::int64_t kFineAttentionLayers = 2;
constexpr std::int64_t kFineFfnLayers = 1;

// Query rows of one attention job: enough to share the keys' loads, few enough to balance the
// threads.
constexpr std::int64_t kAttentionRows = 16;

base::AlignedBuffer floats(std::int64_t count, const char* what) {
  return base::AlignedBuffer(static_cast<std::size_t>(count) * sizeof(float), what);
}

float* as_floats(base::AlignedBuffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

}  // namespace

struct Forward::Row {
  TokenId token;
  std::int64_t position;
  KvSequence* kv;
};

struct Forward::AttentionJob {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t kv_head;
};

/// One worker's way through a step.
class Forward::Pass {
 public:
  Pass(Forward& forward, base::Worker& worker)
      : f_(forward),
        config_(forward.config_),
        worker_(worker),
        m_(static_cast<std::int64_t>(forward.rows_.size())),
        q_width_(config_.heads * config_.head_dim),
        kv_width_(config_.kv_heads * config_.head_dim),
        hidden_(as_floats(f_.hidden_)),
        q_(as_floats(f_.q_)),
        k_(as_floats(f_.k_)),
        v_(as_floats(f_.v_)),
        attended_(as_floats(f_.attended_)),
        gate_(as_floats(f_.gate_)),
        up_(as_floats(f_.up_)),
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
  // Tells the probe; a step of one row is computed by every worker for itself, but shown once.
  void show(Stage stage, std::int64_t layer, std::int64_t row, const float* values,
            std::int64_t count) const noexcept {
    if (f_.probe_ && (m_ > 1 || worker_.index() == 0)) {
      f_.probe_(stage, layer, row, {values, static_cast<std::size_t>(count)});
    }
  }

  void embed() noexcept {
    const model::Matrix& table = f_.model_.weights.embedding;
    const auto decode = f_.table_.matrix[static_cast<int>(table.type)]->decode_row;
    const base::Range mine = worker_.slice(m_);
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      decode(table.panels, table.k, f_.rows_[static_cast<std::size_t>(row)].token,
             hidden_ + row * config_.hidden);
    }
    worker_.barrier();
  }

  // Encodes rows [0, rows); produce(row) gives a row's values. A single row is encoded by every
  // worker for itself, which is cheaper than a barrier.
  template <class Produce>
  const EncodedRows& encode(EncodingSet set, std::int64_t rows, std::int64_t k,
                            Produce produce) noexcept {
    if (rows == 1) {
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

  const float* normalized(std::int64_t row, const std::vector<float>& weight) noexcept {
    f_.table_.floats->rms_norm(hidden_ + row * config_.hidden, weight.data(), config_.hidden,
                               config_.rms_eps, scratch_);
    return scratch_;
  }

  void attention_block(std::int64_t index) noexcept {
    const model::Layer& layer = f_.model_.weights.layers[static_cast<std::size_t>(index)];
    const LayerKeyBias& key_bias = f_.key_bias_.layers[static_cast<std::size_t>(index)];
    const bool fine = index < kFineAttentionLayers;
    EncodingSet set{.fine = fine};
    for (const auto* matrix : {&layer.q, &layer.k, &layer.v}) set.add(matrix->type);
    const EncodedRows& x = encode(set, m_, config_.hidden, [&](std::int64_t row) {
      show(Stage::hidden, index, row, hidden_ + row * config_.hidden, config_.hidden);
      const float* input = normalized(row, layer.attn_norm);
      show(Stage::attention, index, row, input, config_.hidden);
      return input;
    });
    const LinearPart qkv[] = {{&layer.q, q_, q_width_, layer.q_bias.data()},
                              {&layer.k, k_, kv_width_, key_bias.kept.data()},
                              {&layer.v, v_, kv_width_, layer.v_bias.data()}};
    linear(f_.table_, worker_, x, m_, qkv, fine);
    worker_.barrier();

    if (worker_.index() == 0) f_.next_job_.store(0, std::memory_order_relaxed);
    const base::Range mine = worker_.slice(m_);
    for (std::int64_t row = mine.begin; row < mine.end; ++row)
      rotate_and_store(index, key_bias, row);
    worker_.barrier();

    const auto jobs = static_cast<std::int64_t>(f_.jobs_.size());
    for (std::int64_t job; (job = f_.next_job_.fetch_add(1, std::memory_order_relaxed)) < jobs;) {
      attend(index, key_bias, f_.jobs_[static_cast<std::size_t>(job)]);
    }
    worker_.barrier();

    EncodingSet output_set{.fine = fine};
    output_set.add(layer.o.type);
    const EncodedRows& attended = encode(output_set, m_, q_width_, [&](std::int64_t row) {
      const float* input = attended_ + row * q_width_;
      show(Stage::attended, index, row, input, q_width_);
      return input;
    });
    const LinearPart o[] = {{&layer.o, hidden_, config_.hidden, nullptr, hidden_}};
    linear(f_.table_, worker_, attended, m_, o, fine);
    worker_.barrier();
  }

  void rotate_and_store(std::int64_t layer, const LayerKeyBias& key_bias,
                        std::int64_t row) noexcept {
    const Row& where = f_.rows_[static_cast<std::size_t>(row)];
    kernels::RopeArgs rope{q_ + row * q_width_, config_.heads, config_.head_dim,
                           f_.rope_.cos(where.position), f_.rope_.sin(where.position)};
    f_.table_.floats->rope(rope);
    rope.x = k_ + row * kv_width_;
    rope.heads = config_.kv_heads;
    f_.table_.floats->rope(rope);
    const kernels::KvWriteArgs write{
        k_ + row * kv_width_,
        v_ + row * kv_width_,
        config_.kv_heads,
        config_.head_dim,
        where.kv->page_of(where.position) + f_.layout_.layer_offset(layer),
        where.position % kernels::kPageTokens};
    f_.table_.floats->kv_write[static_cast<int>(f_.layout_.type)](write);
    for (std::int64_t head = 0; head < config_.kv_heads; ++head) project_bias(key_bias, row, head);
  }

  // A and B of every pair kept apart: the rotated query's product with the bias, as if rotated by a
  // position.
  void project_bias(const LayerKeyBias& key_bias, std::int64_t row, std::int64_t head) noexcept {
    const auto& apart = key_bias.apart[static_cast<std::size_t>(head)];
    const std::int64_t group = config_.heads / config_.kv_heads;
    const std::int64_t half = config_.head_dim / 2;
    float* out = bias_q(head) + row * group * 2 * static_cast<std::int64_t>(apart.size());
    for (std::int64_t h = 0; h < group; ++h) {
      const float* q = q_ + row * q_width_ + (head * group + h) * config_.head_dim;
      for (const ApartPair& pair : apart) {
        const float q1 = q[pair.pair];
        const float q2 = q[pair.pair + half];
        *out++ = q1 * pair.first + q2 * pair.second;
        *out++ = q2 * pair.first - q1 * pair.second;
      }
    }
  }

  float* bias_q(std::int64_t head) const noexcept {
    const std::int64_t group = config_.heads / config_.kv_heads;
    return as_floats(f_.bias_q_) + head * f_.rows_max_ * group * f_.key_bias_.terms_max;
  }

  void attend(std::int64_t layer, const LayerKeyBias& key_bias, const AttentionJob& job) noexcept {
    const Row& first = f_.rows_[static_cast<std::size_t>(job.first_row)];
    const std::int64_t group = config_.heads / config_.kv_heads;
    kernels::AttentionArgs args{};
    args.q = q_ + job.first_row * q_width_ + job.kv_head * group * config_.head_dim;
    args.q_stride = q_width_;
    args.rows = job.rows;
    args.group = group;
    args.head_dim = config_.head_dim;
    args.scale = 1.0F / std::sqrt(static_cast<float>(config_.head_dim));
    args.first_position = first.position;
    args.window = config_.sliding_window;
    args.pages = first.kv->pages();
    args.k_offset = f_.layout_.k_offset(layer, job.kv_head);
    args.v_offset = f_.layout_.v_offset(layer, job.kv_head);
    args.bias_terms =
        2 * static_cast<std::int64_t>(key_bias.apart[static_cast<std::size_t>(job.kv_head)].size());
    args.bias_q = bias_q(job.kv_head) + job.first_row * group * args.bias_terms;
    args.bias_tables =
        f_.bias_tables_.data() + (layer * config_.kv_heads + job.kv_head) * f_.key_bias_.terms_max;
    args.out = attended_ + job.first_row * q_width_ + job.kv_head * group * config_.head_dim;
    args.out_stride = q_width_;
    f_.table_.floats->attention[static_cast<int>(f_.layout_.type)](args);
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
    const LinearPart gate_up[] = {{&layer.gate, gate_, config_.ffn}, {&layer.up, up_, config_.ffn}};
    linear(f_.table_, worker_, x, m_, gate_up, fine);
    worker_.barrier();

    EncodingSet down_set{.fine = fine};
    down_set.add(layer.down.type);
    const EncodedRows& activated = encode(down_set, m_, config_.ffn, [&](std::int64_t row) {
      f_.table_.floats->silu_mul(gate_ + row * config_.ffn, up_ + row * config_.ffn, config_.ffn,
                                 scratch_);
      show(Stage::activated, index, row, scratch_, config_.ffn);
      return scratch_;
    });
    const LinearPart down[] = {{&layer.down, hidden_, config_.hidden, nullptr, hidden_}};
    linear(f_.table_, worker_, activated, m_, down, fine);
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
    linear(f_.table_, worker_, x, rows, logits);
  }

  Forward& f_;
  const model::Config& config_;
  base::Worker& worker_;
  std::int64_t m_;
  std::int64_t q_width_;
  std::int64_t kv_width_;
  float* hidden_;
  float* q_;
  float* k_;
  float* v_;
  float* attended_;
  float* gate_;
  float* up_;
  float* scratch_;
  float* remainder_;
};

Forward::Forward(const model::LoadedModel& model, const kernels::KernelTable& table,
                 base::ThreadTeam& team, kernels::KvType kv_type, std::int64_t rows_max,
                 std::int64_t positions_max)
    : model_(model),
      config_(model.config),
      table_(table),
      team_(team),
      layout_(KvLayout::make(model.config, kv_type)),
      key_bias_(split_key_bias(model.weights, model.config, kv_type)),
      rope_(rope_frequencies(model.config), positions_max, key_bias_.column_pairs),
      rows_max_(rows_max),
      hidden_(floats(rows_max * config_.hidden, "activations")),
      q_(floats(rows_max * config_.heads * config_.head_dim, "queries")),
      k_(floats(rows_max * config_.kv_heads * config_.head_dim, "keys")),
      v_(floats(rows_max * config_.kv_heads * config_.head_dim, "values")),
      attended_(floats(rows_max * config_.heads * config_.head_dim, "attention outputs")),
      gate_(floats(rows_max * config_.ffn, "gates")),
      up_(floats(rows_max * config_.ffn, "up projections")),
      bias_q_(floats(rows_max * config_.heads * key_bias_.terms_max, "key bias terms")),
      scratch_(floats(2 * team.size() * Pass::scratch_width(config_), "scratch rows")),
      encoded_(rows_max,
               std::max({config_.hidden, config_.ffn, config_.heads * config_.head_dim})) {
  rows_.reserve(static_cast<std::size_t>(rows_max));
  logit_rows_.reserve(static_cast<std::size_t>(rows_max));
  jobs_.reserve(static_cast<std::size_t>(rows_max * config_.kv_heads));
  for (int worker = 0; worker < team.size(); ++worker) {
    private_encoded_.push_back(std::make_unique<EncodedRows>(
        1, std::max({config_.hidden, config_.ffn, config_.heads * config_.head_dim})));
  }
  gather_bias_tables();
}

Forward::~Forward() = default;

void Forward::gather_bias_tables() {
  bias_tables_.resize(
      static_cast<std::size_t>(config_.layers * config_.kv_heads * key_bias_.terms_max));
  auto slot = bias_tables_.begin();
  for (const LayerKeyBias& layer : key_bias_.layers) {
    for (const auto& apart : layer.apart) {
      auto out = slot;
      for (const ApartPair& pair : apart) {
        *out++ = rope_.cos_column(pair.column);
        *out++ = rope_.sin_column(pair.column);
      }
      slot += key_bias_.terms_max;
    }
  }
}

void Forward::plan(std::span<const SequenceStep> sequences) {
  rows_.clear();
  jobs_.clear();
  logit_rows_.clear();
  for (const SequenceStep& sequence : sequences) {
    const auto first_row = static_cast<std::int64_t>(rows_.size());
    const auto count = static_cast<std::int64_t>(sequence.tokens.size());
    for (std::int64_t i = 0; i < count; ++i) {
      rows_.push_back(
          {sequence.tokens[static_cast<std::size_t>(i)], sequence.first_position + i, sequence.kv});
      if (sequence.logits == LogitRows::all ||
          (sequence.logits == LogitRows::last && i + 1 == count)) {
        logit_rows_.push_back(first_row + i);
      }
    }
    for (std::int64_t begin = 0; begin < count; begin += kAttentionRows) {
      for (std::int64_t head = 0; head < config_.kv_heads; ++head) {
        jobs_.push_back({first_row + begin, std::min(kAttentionRows, count - begin), head});
      }
    }
    rope_.fill(sequence.first_position + count);
  }
}

std::span<const float> Forward::step(std::span<const SequenceStep> sequences, int threads) {
  plan(sequences);
  const std::size_t logits = logit_rows_.size() * static_cast<std::size_t>(config_.vocab);
  if (logits_.size() < logits) logits_.resize(logits);
  team_.run([this](base::Worker& worker) { Pass(*this, worker).run(); }, threads);
  return {logits_.data(), logits};
}

}  // namespace r1::runtime
