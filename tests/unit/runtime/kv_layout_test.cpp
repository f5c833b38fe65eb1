// Where keys and values lie in a page, for all KV types.
#include "libr1/runtime/kv_layout.hpp"

#include <catch2/catch.hpp>

using namespace r1::runtime;
using r1::kernels::KvType;

TEST_CASE("heads and layers tile a page without gaps, in lines of the cache") {
  for (const KvType type : {KvType::f32, KvType::f16, KvType::q8}) {
    for (const std::int64_t kv_heads : {1, 2, 3, 8}) {
      for (const std::int64_t head_dim : {16, 64, 80, 128, 256}) {
        const KvLayout layout{type, 3, kv_heads, head_dim};
        INFO("type " << static_cast<int>(type) << " kv_heads " << kv_heads << " head_dim "
                     << head_dim);
        std::int64_t end = 0;
        for (std::int64_t layer = 0; layer < 3; ++layer) {
          CHECK(layout.layer_offset(layer) == end);
          for (std::int64_t head = 0; head < kv_heads; ++head) {
            CHECK(layout.k_offset(layer, head) == end + head * layout.head_bytes());
            CHECK(layout.v_offset(layer, head) == end + (kv_heads + head) * layout.head_bytes());
          }
          end += 2 * kv_heads * layout.head_bytes();
        }
        CHECK(layout.page_bytes() == end);
        CHECK(layout.layer_bytes() % 64 == 0);
      }
    }
  }
}

TEST_CASE("q8 takes at most 53 % of the bytes of f16 with heads of 64 and more") {
  for (const std::int64_t head_dim : {64, 80, 128, 256}) {
    const KvLayout f16{KvType::f16, 2, 2, head_dim};
    const KvLayout q8{KvType::q8, 2, 2, head_dim};
    INFO("head_dim " << head_dim);
    // A byte a value, and two bytes a token and head.
    CHECK(q8.head_bytes() == 16 * (head_dim + 2));
    CHECK(100 * q8.page_bytes() <= 53 * f16.page_bytes());
  }
}
