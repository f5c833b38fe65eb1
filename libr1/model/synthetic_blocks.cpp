// Filling pools and copying out of them.
#include "libr1/model/synthetic_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/api/pack.hpp"

namespace r1::model {
namespace {

using kernels::WeightType;

// Pool and piece stay in the second-level cache, so that copying runs at the speed of the target.
constexpr std::size_t kPoolBytes = std::size_t{1} << 20;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Enough blocks to know the deviation of a type's values to about 1 %.
constexpr std::int64_t kSampleBlocks = 256;

/// IEEE binary16 nearest to a value below 65504 in magnitude (ties away from 0).
std::uint16_t to_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  // Halfs from 2^e up to 2^(e+1) are 2^(e-10) apart, below 2^-14 as from there on. Counted from 0,
  // each power of two takes 1024 steps.
  const int exponent = magnitude < 0x1p-14F ? -14 : std::ilogb(magnitude);
  const auto steps = static_cast<int>(std::lround(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + steps));
}

void put_half(std::byte* at, float value) {
  const std::uint16_t half = to_half(value);
  std::memcpy(at, &half, sizeof half);
}

/// Uniform in [-1, 1).
float symmetric(std::mt19937_64& random) {
  return static_cast<float>(static_cast<std::int64_t>(random()) >> 39) * 0x1p-24F;
}

void put_float(WeightType type, std::byte* at, float value) {
  if (type == WeightType::f16) {
    put_half(at, value);
    return;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == WeightType::f32) {
    std::memcpy(at, &bits, sizeof bits);
  } else {
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at, &upper, sizeof upper);
  }
}

/// A scale and a minimum (or addend) as a block holds them.
struct BlockScales {
  float scale = 0;
  float minimum = 0;
};

void put_scales(const kernels::FormatInfo& info, const BlockScales& scales, std::byte* block) {
  put_half(block + info.scale_at, scales.scale);
  if (info.minimum_at >= 0) put_half(block + info.minimum_at, scales.minimum);
}

/// Mean and root mean square of the values of the first kSampleBlocks blocks, under `scales`.
struct Sample {
  double mean = 0;
  double deviation = 0;
};

Sample sample(WeightType type, const BlockScales& scales, std::vector<std::byte>& bytes) {
  const kernels::FormatInfo& info = kernels::format_info(type);
  for (std::int64_t i = 0; i < kSampleBlocks; ++i) {
    put_scales(info, scales, bytes.data() + i * info.block_bytes);
  }
  const std::int64_t count = kSampleBlocks * info.block_values;
  std::vector<float> values(static_cast<std::size_t>(count));
  kernels::decode_gguf_row(type, bytes.data(), count, values.data());
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto n = static_cast<double>(count);
  return {sum / n, std::sqrt(squares / n)};
}

/// The minimum that centres a type's values, in scales; `bytes` are random blocks.
float centring_minimum(WeightType type, std::vector<std::byte>& bytes) {
  if (kernels::format_info(type).minimum_at < 0) return 0;
  const double of_scale = sample(type, {1, 0}, bytes).mean;
  const double of_minimum = sample(type, {0, 1}, bytes).mean;
  return static_cast<float>(-of_scale / of_minimum);
}

void fill_floats(WeightType type, const ValueSpread& spread, std::mt19937_64& random,
                 std::vector<std::byte>& bytes) {
  const auto width = static_cast<std::size_t>(kernels::format_info(type).block_bytes);
  const float half_width = spread.deviation * std::sqrt(3.0F);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    put_float(type, bytes.data() + at, spread.mean + half_width * symmetric(random));
  }
}

void fill_blocks(WeightType type, float deviation, std::mt19937_64& random,
                 std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(bytes.data() + at, &bits, std::min(sizeof bits, bytes.size() - at));
  }
  const kernels::FormatInfo& info = kernels::format_info(type);
  const float centre = centring_minimum(type, bytes);
  const auto unit = static_cast<float>(sample(type, {1, centre}, bytes).deviation);
  const auto block_bytes = static_cast<std::size_t>(info.block_bytes);
  for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
    // Codes without a minimum do not lie evenly around 0; a scale of either sign centres them.
    const float scale = deviation / unit * (1 + 0.3F * symmetric(random));
    const bool negative = info.minimum_at < 0 && symmetric(random) < 0;
    const float signed_scale = negative ? -scale : scale;
    put_scales(info, {signed_scale, signed_scale * centre}, bytes.data() + at);
  }
}

}  // namespace

BlockPool::BlockPool(WeightType type, const ValueSpread& spread, std::uint64_t seed)
    : block_bytes_(static_cast<std::size_t>(kernels::format_info(type).block_bytes)) {
  const std::size_t piece_blocks = kPieceBytes / block_bytes_;
  const std::size_t blocks = kPoolBytes / block_bytes_;
  piece_bytes_ = piece_blocks * block_bytes_;
  places_ = blocks - piece_blocks + 1;
  bytes_.resize(blocks * block_bytes_);
  std::mt19937_64 random(seed);
  if (kernels::format_info(type).block_values == 1) {
    fill_floats(type, spread, random, bytes_);
  } else {
    fill_blocks(type, spread.deviation, random, bytes_);
  }
}

void BlockPool::copy(const BlockStream& stream, std::int64_t begin,
                     std::span<std::byte> out) const {
  std::uint64_t piece = static_cast<std::uint64_t>(begin) / piece_bytes_;
  std::size_t within = static_cast<std::size_t>(begin) % piece_bytes_;
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), piece_bytes_ - within);
    const std::uint64_t place = (stream.start % places_ + piece * stream.step) % places_;
    std::memcpy(out.data(), bytes_.data() + place * block_bytes_ + within, count);
    out = out.subspan(count);
    within = 0;
    ++piece;
  }
}

}  // namespace r1::model
