// Arguments of the kernels: plain data, filled by libr1.
#pragma once

#include <cstddef>
#include <cstdint>

namespace r1::kernels {

/// Rows of a packed panel: all tiers share one layout (docs/kernels.md).
inline constexpr std::int64_t kPanelRows = 16;
/// Tokens of a KV page.
inline constexpr std::int64_t kPageTokens = 16;

/// y[m, n] = x[m, k] W[n, k]^T + bias[n] + residual[m, n], for the rows of W in some panels.
struct MatmulArgs {
  const std::byte* panels;   ///< packed W: panel p holds rows [16p, 16p+16); 64-byte aligned
  std::int64_t n;            ///< rows of W; rows past n in the last panel are never written to y
  std::int64_t k;            ///< columns of W
  std::int64_t panel_begin;  ///< first panel to compute
  std::int64_t panel_end;    ///< one past the last
  const std::byte* x;        ///< m encoded rows (see ActivationEncoding), 64-byte aligned
  std::int64_t x_stride;     ///< bytes from row to row, multiple of 64
  std::int64_t m;            ///< rows of x
  float* y;                  ///< [m, n] float32
  std::int64_t y_stride;     ///< floats from row to row
  const float* bias;         ///< [n] or null
  const float* residual;     ///< [m, n] with y_stride, may be y itself, or null
};

/// Element type of the KV cache. q8: int8 codes with one f16 scale a token and KV head, for K and
/// for V. The scale is the smallest f16 that keeps the codes, to nearest even, within -127..127; 0
/// for a row of zeros. A row with a NaN, an infinity or a value beyond 127 * 65504 gets the scale
/// NaN, so that whatever attends to it shows.
enum class KvType : std::uint8_t { f32, f16, q8 };
inline constexpr int kKvTypeCount = 3;

/// Bytes of one head's K, or V, in a page: its values as [head_dim][16 tokens] for K and [16
/// tokens][head_dim] for V; with q8 the codes so and, right behind them, the scales of the 16
/// tokens. Twice that is a multiple of 64.
constexpr std::int64_t kv_head_bytes(KvType type, std::int64_t head_dim) noexcept {
  const std::int64_t values = kPageTokens * head_dim;
  switch (type) {
    case KvType::f32:
      return values * 4;
    case KvType::f16:
      return values * 2;
    case KvType::q8:
      return values + kPageTokens * 2;
  }
  return 0;
}

/// Where one token's keys and values go. A layer's part of a page: K of all KV heads, then V of all
/// KV heads, kv_head_bytes() each.
struct KvWriteArgs {
  const float* k;  ///< [kv_heads, head_dim] after RoPE (and without any bias kept apart)
  const float* v;  ///< [kv_heads, head_dim]
  std::int64_t kv_heads;
  std::int64_t head_dim;  ///< multiple of 16
  std::byte* layer_page;  ///< this layer's part of the page, 64-byte aligned
  std::int64_t slot;      ///< position within the page, [0, 16)
};

/// Positions of a span: attention is computed span by span at these fixed positions, and the spans'
/// results are folded in order, so who computes a span changes no bits.
inline constexpr std::int64_t kSpanTokens = 512;
/// Memory that one call of an attention kernel works in.
inline constexpr std::int64_t kAttentionScratchBytes = 512 * 1024;

/// Softmax of one query vector so far: the largest score in units of log 2, and the sum of weights
/// 2^(score - max). A sum of 0: no position seen.
struct SoftmaxState {
  float max;
  float sum;
};

/// Attention of some query rows of one sequence to one KV head and the query heads that share it.
/// Row r sits at position first_position + r and sees the positions [max(0, p - window + 1), p].
/// A row's bits depend neither on the other rows nor on who computes it. Softmax in float32.
struct AttentionArgs {
  const float* q;  ///< row r, head h of the group at q + r * q_stride + h * head_dim; after RoPE
  std::int64_t q_stride;  ///< floats from row to row
  std::int64_t rows;
  std::int64_t group;             ///< query heads that share the KV head
  std::int64_t head_dim;          ///< multiple of 16, at most 256
  float scale;                    ///< usually 1 / sqrt(head_dim)
  std::int64_t first_position;    ///< of row 0
  std::int64_t window;            ///< 0: no sliding window
  const std::byte* const* pages;  ///< page p holds positions [16p, 16p+16) of this sequence
  std::int64_t k_offset;          ///< bytes from a page's start to this layer and head's K
  std::int64_t v_offset;          ///< the same for V
  /// Key bias kept apart: the score of position p gets, before `scale`, the sum over e of
  /// bias_q[(r * group + h) * bias_terms + e] * bias_tables[e][p].
  std::int64_t bias_terms;  ///< 0: none; at most 16
  const float* bias_q;
  const float* const*
      bias_tables;  ///< bias_terms tables over absolute positions, readable in whole pages
  float* out;       ///< row r, head h at out + r * out_stride + h * head_dim
  std::int64_t out_stride;
  std::byte* scratch;  ///< kAttentionScratchBytes, 64-byte aligned, this call's own
  /// Null: attends to all that the rows see. Otherwise to the spans [span_begin, span_end) only,
  /// each by itself, for attention_fold: out is [spans, rows, group, head_dim] and gets the
  /// weighted sums of V, states [spans, rows, group].
  SoftmaxState* states;
  std::int64_t span_begin;  ///< a span s is the positions [s, s + 1) * kSpanTokens
  std::int64_t span_end;
};

/// Folds the results of consecutive spans, as attention itself does, into the output of the rows.
struct AttentionFoldArgs {
  std::int64_t spans;
  std::int64_t rows;
  std::int64_t group;
  std::int64_t head_dim;
  const float* parts;          ///< [spans, rows, group, head_dim]: what attention gave
  const SoftmaxState* states;  ///< [spans, rows, group]
  float* out;                  ///< as in AttentionArgs
  std::int64_t out_stride;
};

/// In-place rotation of heads, NEOX pairs (i, i + head_dim/2).
struct RopeArgs {
  float* x;  ///< [heads, head_dim]
  std::int64_t heads;
  std::int64_t head_dim;  ///< multiple of 16
  const float* cos;       ///< [head_dim/2] of this position, attention factor included
  const float* sin;
};

}  // namespace r1::kernels
