// Case K2: key biases of hundreds in two channels a head, which would take the bits of all other
// channels of a narrow KV cache. Loss is the divergence from the same engine with a float32 cache.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/forward_logits.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/reference_model.hpp"

namespace {

using namespace r1;
using kernels::KvType;

struct Divergence {
  double mean = 0;
  double worst = 0;
};

Divergence divergence(const Model& model, kernels::IsaTier isa, KvType type) {
  const auto tokens = support::random_tokens(300, 256, 21);
  const auto exact = support::forward_logits(model, tokens, {.isa = isa, .kv_type = KvType::f32});
  const auto logits = support::forward_logits(model, tokens, {.isa = isa, .kv_type = type});
  Divergence result;
  for (std::size_t t = 0; t < exact.size(); ++t) {
    const std::vector<double> reference(exact[t].begin(), exact[t].end());
    const double kl = support::kl_divergence(reference, logits[t]);
    result.mean += kl / static_cast<double>(exact.size());
    result.worst = std::max(result.worst, kl);
  }
  return result;
}

}  // namespace

TEST_CASE("K2: narrow KV caches keep to the float32 one, whatever the key bias") {
  for (const float bias : {0.0F, 3.0F, 6.0F, 30.0F, 900.0F}) {
    for (const std::int64_t head_dim : {64, 80, 128}) {
      const Model model =
          Model::load(support::random_model({.head_dim = head_dim, .outlier_key_bias = bias}));
      for (const auto isa : support::available_tiers()) {
        for (const KvType type : {KvType::f16, KvType::q8}) {
          const Divergence kl = divergence(model, isa, type);
          INFO("bias " << bias << " head_dim " << head_dim << " on " << kernels::isa_name(isa)
                       << (type == KvType::f16 ? " f16" : " q8"));
          CHECK(kl.mean <= (type == KvType::f16 ? 1e-4 : 1e-3));
          CHECK(kl.worst <= 0.05);
        }
      }
    }
  }
}
