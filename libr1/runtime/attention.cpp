// Attention of one step. Jobs are cut by rows and KV heads, few rows with a long context also by
// spans, and taken from a cursor, because rows at different depths cost differently. Neither the
// cut nor who takes a job changes a bit of the result.
#include "libr1/runtime/attention.hpp"

#include <algorithm>
#include <cmath>

namespace r1::runtime {
namespace {

// Query rows of one job: enough to share the keys' loads, few enough to balance the threads.
constexpr std::int64_t kJobRows = 16;

// Blocks of fewer rows are cut by spans as well: a step of decode has as many blocks as sequences
// and KV heads, which may be fewer than threads. Enough jobs that a slow thread holds nobody up,
// few because each starts with an empty cache (single spans: 5 % slower from the last-level cache).
constexpr std::int64_t kSplitRows = 8;
constexpr std::int64_t kJobsPerWorker = 3;

// Results of single spans that a step may hold. Blocks beyond that stay whole.
constexpr std::int64_t kPartBytesMax = 8 << 20;

std::int64_t part_vectors_max(const model::Config& config, std::int64_t rows,
                              std::int64_t positions) {
  const std::int64_t spans = (positions + kernels::kSpanTokens - 1) / kernels::kSpanTokens;
  const std::int64_t bytes = config.head_dim * static_cast<std::int64_t>(sizeof(float));
  return std::min(rows * config.heads * spans, kPartBytesMax / bytes);
}

base::AlignedBuffer floats(std::int64_t count, const char* what) {
  return base::AlignedBuffer(static_cast<std::size_t>(count) * sizeof(float), what);
}

}  // namespace

Attention::Attention(const model::LoadedModel& model, const kernels::KernelTable& table,
                     kernels::KvType kv_type, int workers, std::int64_t rows_max,
                     std::int64_t positions_max)
    : config_(model.config),
      kernels_(*table.floats),
      layout_(KvLayout::make(model.config, kv_type)),
      key_bias_(split_key_bias(model.weights, model.config, kv_type)),
      rope_(rope_frequencies(model.config), positions_max, key_bias_.column_pairs),
      rows_max_(rows_max),
      workers_(workers),
      group_(config_.heads / config_.kv_heads),
      q_width_(config_.heads * config_.head_dim),
      kv_width_(config_.kv_heads * config_.head_dim),
      jobs_left_(static_cast<std::size_t>(rows_max * config_.kv_heads)),
      q_(floats(rows_max * q_width_, "queries")),
      k_(floats(rows_max * kv_width_, "keys")),
      v_(floats(rows_max * kv_width_, "values")),
      out_(floats(rows_max * q_width_, "attention outputs")),
      bias_q_(floats(rows_max * config_.heads * key_bias_.terms_max, "key bias terms")),
      scratch_(static_cast<std::size_t>(workers * kernels::kAttentionScratchBytes),
               "attention scratch"),
      states_(static_cast<std::size_t>(part_vectors_max(config_, rows_max, positions_max))),
      parts_(
          floats(static_cast<std::int64_t>(states_.size()) * config_.head_dim, "attention parts")) {
  const auto blocks = static_cast<std::size_t>(rows_max * config_.kv_heads);
  rows_.reserve(static_cast<std::size_t>(rows_max));
  jobs_.reserve(blocks + states_.size());
  splits_.reserve(blocks);
  gather_bias_tables();
}

void Attention::gather_bias_tables() {
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

void Attention::clear() {
  rows_.clear();
  jobs_.clear();
  splits_.clear();
  part_vectors_ = 0;
}

void Attention::add(const KvSequence& kv, std::int64_t first_position, std::int64_t count) {
  const auto first_row = static_cast<std::int64_t>(rows_.size());
  for (std::int64_t i = 0; i < count; ++i) rows_.push_back({first_position + i, &kv});
  for (std::int64_t begin = 0; begin < count; begin += kJobRows) {
    for (std::int64_t head = 0; head < config_.kv_heads; ++head) {
      add_block({first_row + begin, std::min(kJobRows, count - begin), head});
    }
  }
  rope_.fill(first_position + count);
}

void Attention::add_block(const Block& block) {
  const std::int64_t first = rows_[static_cast<std::size_t>(block.first_row)].position;
  const std::int64_t last = first + block.rows - 1;
  const std::int64_t window = config_.sliding_window;
  const std::int64_t lowest = window > 0 ? std::max<std::int64_t>(0, first - window + 1) : 0;
  const std::int64_t first_span = lowest / kernels::kSpanTokens;
  const std::int64_t spans = last / kernels::kSpanTokens + 1 - first_span;
  const std::int64_t vectors = spans * block.rows * group_;
  const std::int64_t wanted = (kJobsPerWorker * workers_ + config_.kv_heads - 1) / config_.kv_heads;
  const std::int64_t jobs = std::min(spans, wanted);
  if (workers_ == 1 || jobs == 1 || block.rows >= kSplitRows ||
      part_vectors_ + vectors > static_cast<std::int64_t>(states_.size())) {
    jobs_.push_back({block, -1, {}});
    return;
  }
  const auto split = static_cast<std::int64_t>(splits_.size());
  splits_.push_back({first_span, spans, jobs, part_vectors_});
  jobs_left_[static_cast<std::size_t>(split)].store(jobs, std::memory_order_relaxed);
  part_vectors_ += vectors;
  for (std::int64_t job = 0; job < jobs; ++job) {
    jobs_.push_back({block, split, {job * spans / jobs, (job + 1) * spans / jobs}});
  }
}

void Attention::rotate_and_store(std::int64_t layer, const base::Worker& worker) noexcept {
  if (worker.index() == 0) next_job_.store(0, std::memory_order_relaxed);
  const base::Range mine = worker.slice(static_cast<std::int64_t>(rows_.size()));
  for (std::int64_t row = mine.begin; row < mine.end; ++row) rotate_and_store_row(layer, row);
}

void Attention::rotate_and_store_row(std::int64_t layer, std::int64_t row) noexcept {
  const Row& where = rows_[static_cast<std::size_t>(row)];
  float* const k_row = k() + row * kv_width_;
  kernels::RopeArgs rope{q() + row * q_width_, config_.heads, config_.head_dim,
                         rope_.cos(where.position), rope_.sin(where.position)};
  kernels_.rope(rope);
  rope.x = k_row;
  rope.heads = config_.kv_heads;
  kernels_.rope(rope);
  kernels_.kv_write[static_cast<int>(layout_.type)](
      {k_row, v() + row * kv_width_, config_.kv_heads, config_.head_dim,
       where.kv->page_of(where.position) + layout_.layer_offset(layer),
       where.position % kernels::kPageTokens});
  for (std::int64_t head = 0; head < config_.kv_heads; ++head) project_bias(layer, row, head);
}

const std::vector<ApartPair>& Attention::apart(std::int64_t layer, std::int64_t head) const {
  return key_bias_.layers[static_cast<std::size_t>(layer)].apart[static_cast<std::size_t>(head)];
}

float* Attention::bias_q(std::int64_t head) {
  return as_floats(bias_q_) + head * rows_max_ * group_ * key_bias_.terms_max;
}

// A and B of every pair kept apart: the rotated query's product with the bias, as if rotated by a
// position.
void Attention::project_bias(std::int64_t layer, std::int64_t row, std::int64_t head) noexcept {
  const std::vector<ApartPair>& pairs = apart(layer, head);
  const std::int64_t half = config_.head_dim / 2;
  float* out = bias_q(head) + row * group_ * 2 * static_cast<std::int64_t>(pairs.size());
  for (std::int64_t h = 0; h < group_; ++h) {
    const float* q_head = q() + row * q_width_ + (head * group_ + h) * config_.head_dim;
    for (const ApartPair& pair : pairs) {
      const float q1 = q_head[pair.pair];
      const float q2 = q_head[pair.pair + half];
      *out++ = q1 * pair.first + q2 * pair.second;
      *out++ = q2 * pair.first - q1 * pair.second;
    }
  }
}

void Attention::attend(std::int64_t layer, const base::Worker& worker) noexcept {
  std::byte* const scratch = scratch_.data() + worker.index() * kernels::kAttentionScratchBytes;
  const auto jobs = static_cast<std::int64_t>(jobs_.size());
  for (std::int64_t next; (next = next_job_.fetch_add(1, std::memory_order_relaxed)) < jobs;) {
    const Job& job = jobs_[static_cast<std::size_t>(next)];
    kernels::AttentionArgs args = arguments(layer, job.block);
    args.scratch = scratch;
    if (job.split < 0) {
      kernels_.attention[static_cast<int>(layout_.type)](args);
    } else {
      attend_spans(args, job);
    }
  }
}

kernels::AttentionArgs Attention::arguments(std::int64_t layer, const Block& block) noexcept {
  const Row& first = rows_[static_cast<std::size_t>(block.first_row)];
  const std::int64_t column = block.kv_head * group_ * config_.head_dim;
  kernels::AttentionArgs args{};
  args.q = q() + block.first_row * q_width_ + column;
  args.q_stride = q_width_;
  args.rows = block.rows;
  args.group = group_;
  args.head_dim = config_.head_dim;
  args.scale = 1.0F / std::sqrt(static_cast<float>(config_.head_dim));
  args.first_position = first.position;
  args.window = config_.sliding_window;
  args.pages = first.kv->pages();
  args.k_offset = layout_.k_offset(layer, block.kv_head);
  args.v_offset = layout_.v_offset(layer, block.kv_head);
  args.bias_terms = 2 * static_cast<std::int64_t>(apart(layer, block.kv_head).size());
  args.bias_q = bias_q(block.kv_head) + block.first_row * group_ * args.bias_terms;
  args.bias_tables =
      bias_tables_.data() + (layer * config_.kv_heads + block.kv_head) * key_bias_.terms_max;
  args.out = as_floats(out_) + block.first_row * q_width_ + column;
  args.out_stride = q_width_;
  return args;
}

void Attention::attend_spans(const kernels::AttentionArgs& whole, const Job& job) noexcept {
  const Split& split = splits_[static_cast<std::size_t>(job.split)];
  const std::int64_t vector = split.first_vector + job.spans.begin * whole.rows * group_;
  kernels::AttentionArgs args = whole;
  args.out = as_floats(parts_) + vector * config_.head_dim;
  args.states = states_.data() + vector;
  args.span_begin = split.first_span + job.spans.begin;
  args.span_end = split.first_span + job.spans.end;
  kernels_.attention[static_cast<int>(layout_.type)](args);

  // Acquire and release: whoever ends last sees the parts of all.
  auto& left = jobs_left_[static_cast<std::size_t>(job.split)];
  if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  left.store(split.jobs, std::memory_order_relaxed);
  kernels_.attention_fold({split.spans, whole.rows, group_, config_.head_dim,
                           as_floats(parts_) + split.first_vector * config_.head_dim,
                           states_.data() + split.first_vector, whole.out, whole.out_stride});
}

}  // namespace r1::runtime
