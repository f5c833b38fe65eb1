// Attention of steps: against a definition in double precision written here, and the promise that
// neither the cut into steps and jobs nor the number of threads changes a bit. Contexts are long
// enough to be split.
#include "libr1/runtime/attention.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "r1/model.hpp"
#include "tests/support/random_model.hpp"

namespace r1::runtime {
namespace {

constexpr std::int64_t kLength = 1070;
constexpr std::int64_t kOtherLength = 700;
/// Rows that are attended to in small steps; a span's edge is among them.
constexpr std::int64_t kSlow = 64;

support::RandomModelSpec small_model(std::int64_t window = 0, float outlier = 0) {
  return {.layers = 1,
          .hidden = 64,
          .heads = 6,
          .kv_heads = 2,
          .head_dim = 32,
          .ffn = 64,
          .sliding_window = window,
          .outlier_key_bias = outlier};
}

/// Rows of queries, keys and values before rotation.
struct Inputs {
  std::vector<float> q, k, v;
};

Inputs random_inputs(const model::Config& config, std::int64_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto make = [&](std::int64_t heads) {
    std::vector<float> values(static_cast<std::size_t>(rows * heads * config.head_dim));
    for (float& value : values) value = normal(random);
    return values;
  };
  return {make(config.heads), make(config.kv_heads), make(config.kv_heads)};
}

/// One sequence that is attended to, chunk by chunk.
class Sequence {
 public:
  Sequence(KvPool& pool, const Inputs& inputs, std::int64_t length)
      : inputs_(inputs), length_(length), kv_(pool) {
    REQUIRE(kv_.reserve(length));
  }

  std::int64_t left() const { return length_ - done_; }

  /// Adds rows to the step: `chunk`, but all except the last kSlow of them at first.
  void add_to(Attention& attention, std::int64_t first_row, std::int64_t chunk) {
    first_row_ = first_row;
    count_ = std::min(done_ == 0 ? std::max(chunk, length_ - kSlow) : chunk, left());
    if (count_ == 0) return;
    attention.add(kv_, done_, count_);
    const auto copy = [&](const std::vector<float>& from, std::int64_t width, float* to) {
      std::copy_n(from.begin() + done_ * width, count_ * width, to + first_row * width);
    };
    copy(inputs_.q, attention.q_width(), attention.q());
    copy(inputs_.k, attention.kv_width(), attention.k());
    copy(inputs_.v, attention.kv_width(), attention.v());
  }

  std::int64_t count() const { return count_; }

  void collect(const Attention& attention) {
    const std::int64_t width = attention.q_width();
    const float* out = attention.out() + first_row_ * width;
    out_.insert(out_.end(), out, out + count_ * width);
    done_ += count_;
  }

  const std::vector<float>& out() const { return out_; }

 private:
  const Inputs& inputs_;
  std::int64_t length_;
  KvSequence kv_;
  std::int64_t done_ = 0;
  std::int64_t first_row_ = 0;
  std::int64_t count_ = 0;
  std::vector<float> out_;
};

/// Outputs of all rows, with a second sequence in the same steps if `beside`.
std::vector<float> attend(const Model& model, kernels::KvType type, int threads, std::int64_t chunk,
                          bool beside = false) {
  const model::LoadedModel& loaded = model.impl();
  const Inputs inputs = random_inputs(loaded.config, kLength, 1);
  const Inputs other_inputs = random_inputs(loaded.config, kOtherLength, 2);
  base::ThreadTeam team(threads);
  KvPool pool(KvLayout::make(loaded.config, type), (kLength + kOtherLength) / 16 + 2);
  Sequence sequence(pool, inputs, kLength);
  Sequence other(pool, other_inputs, beside ? kOtherLength : 0);
  Attention attention(loaded, *kernels::kernel_table(kernels::best_isa()), type, threads,
                      kLength + kOtherLength, kLength);
  while (sequence.left() > 0) {
    attention.clear();
    other.add_to(attention, 0, chunk);
    sequence.add_to(attention, other.count(), chunk);
    team.run([&](base::Worker& worker) {
      attention.rotate_and_store(0, worker);
      worker.barrier();
      attention.attend(0, worker);
    });
    other.collect(attention);
    sequence.collect(attention);
  }
  return sequence.out();
}

/// The definition, in double: rotated by position * base^(-2 i / dim), softmax over what is seen.
std::vector<double> definition(const model::Config& config, const Inputs& inputs,
                               std::int64_t position, std::int64_t head) {
  const std::int64_t dim = config.head_dim;
  const auto rotated = [&](const std::vector<float>& x, std::int64_t heads, std::int64_t h,
                           std::int64_t at) {
    const float* p = x.data() + (at * heads + h) * dim;
    std::vector<double> result(static_cast<std::size_t>(dim));
    for (std::int64_t i = 0; i < dim / 2; ++i) {
      const double angle = static_cast<double>(at) *
                           std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
      const double a = double{p[i]};
      const double b = double{p[i + dim / 2]};
      result[static_cast<std::size_t>(i)] = a * std::cos(angle) - b * std::sin(angle);
      result[static_cast<std::size_t>(i + dim / 2)] = a * std::sin(angle) + b * std::cos(angle);
    }
    return result;
  };
  const std::int64_t kv_head = head / (config.heads / config.kv_heads);
  const std::vector<double> q = rotated(inputs.q, config.heads, head, position);
  const std::int64_t window = config.sliding_window;
  const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, position - window + 1) : 0;
  double total = 0;
  std::vector<double> out(static_cast<std::size_t>(dim), 0.0);
  for (std::int64_t at = first; at <= position; ++at) {
    const std::vector<double> k = rotated(inputs.k, config.kv_heads, kv_head, at);
    double score = 0;
    for (std::size_t d = 0; d < k.size(); ++d) score += q[d] * k[d];
    const double weight = std::exp(score / std::sqrt(static_cast<double>(dim)));
    total += weight;
    const float* v = inputs.v.data() + (at * config.kv_heads + kv_head) * dim;
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * double{v[d]};
  }
  for (double& value : out) value /= total;
  return out;
}

TEST_CASE("attention of steps is what its definition says") {
  for (const std::int64_t window : {0, 600}) {
    const Model model = Model::load(support::random_model(small_model(window)));
    const model::Config& config = model.impl().config;
    const Inputs inputs = random_inputs(config, kLength, 1);
    const std::vector<float> out = attend(model, kernels::KvType::f32, 2, 7);
    for (const std::int64_t position : {0, 511, 512, 700, 1023, 1024, 1069}) {
      for (std::int64_t head = 0; head < config.heads; ++head) {
        INFO("window " << window << " position " << position << " head " << head);
        const std::vector<double> expected = definition(config, inputs, position, head);
        const float* got = out.data() + (position * config.heads + head) * config.head_dim;
        double worst = 0;
        for (std::size_t d = 0; d < expected.size(); ++d) {
          worst = std::max(worst, std::abs(double{got[d]} - expected[d]));
        }
        CHECK(worst <= 1e-5);
      }
    }
  }
}

TEST_CASE("neither steps, nor threads, nor other sequences change a bit of attention") {
  for (const auto& [outlier, window] :
       {std::pair{0.0F, 0}, std::pair{0.0F, 600}, std::pair{300.0F, 0}}) {
    const Model model = Model::load(support::random_model(small_model(window, outlier)));
    for (const kernels::KvType type : {kernels::KvType::f16, kernels::KvType::q8}) {
      const std::vector<float> whole = attend(model, type, 1, kLength);
      REQUIRE(whole.size() == static_cast<std::size_t>(kLength * 6 * 32));
      for (const int threads : {1, 2, 3}) {
        for (const std::int64_t chunk : {1, 7}) {
          for (const bool beside : {false, true}) {
            INFO("type " << static_cast<int>(type) << " outlier " << outlier << " window " << window
                         << " threads " << threads << " chunk " << chunk << " beside another "
                         << beside);
            CHECK((attend(model, type, threads, chunk, beside) == whole));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace r1::runtime
