// What the tests of the matrix kernels share: memory that ends at a guard page, and GGUF rows of
// any type with random or odd contents.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/api/pack.hpp"
#include "kernels/api/table.hpp"

namespace r1::kernels::test {

/// Zeroed memory whose last byte lies before an inaccessible page: one byte read too far ends the
/// test. Sizes that are multiples of 64 are 64-byte aligned.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::int64_t size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = (static_cast<std::size_t>(size) + page - 1) / page;
    mapped_ = (pages + 1) * page;
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base_ != MAP_FAILED);
    auto* end = static_cast<std::byte*>(base_) + pages * page;
    REQUIRE(mprotect(end, page, PROT_NONE) == 0);
    data_ = end - size;
  }
  GuardedBytes(GuardedBytes&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), mapped_(other.mapped_), data_(other.data_) {}
  GuardedBytes& operator=(GuardedBytes&&) = delete;
  ~GuardedBytes() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }

 private:
  void* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
};

/// Contents of made-up GGUF rows.
enum class Fill {
  random,     ///< random codes, ordinary scales of both signs
  zeros,      ///< all bytes zero
  ones,       ///< ordinary scales, every other bit set: the largest codes and sub-scales
  lowest,     ///< ordinary scales, every other byte 0x80: Q8_0 codes of -128
  subnormal,  ///< random codes, scales among the f16 subnormals
};
inline constexpr Fill kFills[] = {Fill::random, Fill::zeros, Fill::ones, Fill::lowest,
                                  Fill::subnormal};

/// rows x k values of `type`, rows one after the other.
inline std::vector<std::byte> make_rows(WeightType type, std::int64_t rows, std::int64_t k,
                                        Fill fill, std::mt19937& random) {
  const FormatInfo& info = format_info(type);
  std::vector<std::byte> out(static_cast<std::size_t>(rows * gguf_row_bytes(type, k)));
  if (fill == Fill::zeros) return out;
  const auto scale = [&]() -> std::uint16_t {
    if (fill == Fill::subnormal) return static_cast<std::uint16_t>(random() & 0x83ff);
    // Exponents 8 to 15 of 31: magnitudes from 2^-7 to 2.
    return static_cast<std::uint16_t>((random() & 0x83ff) | (8 + random() % 8) << 10);
  };
  if (info.encoding == ActivationEncoding::f32) {
    for (std::size_t at = 0; at < out.size(); at += static_cast<std::size_t>(info.block_bytes)) {
      if (type == WeightType::f16) {
        const std::uint16_t bits = scale();
        std::memcpy(&out[at], &bits, 2);
        continue;
      }
      // The upper half of a float between 2^-8 and 2, or a subnormal one.
      std::uint32_t bits = static_cast<std::uint32_t>(random());
      bits = (bits & 0x807fffff) | (fill == Fill::subnormal ? 0 : 119 + random() % 9) << 23;
      if (type == WeightType::bf16) bits >>= 16;
      std::memcpy(&out[at], &bits, static_cast<std::size_t>(info.block_bytes));
    }
    return out;
  }
  for (std::byte& byte : out) {
    byte = static_cast<std::byte>(fill == Fill::ones     ? 0xff
                                  : fill == Fill::lowest ? 0x80
                                                         : random() & 0xff);
  }
  for (std::size_t block = 0; block < out.size();
       block += static_cast<std::size_t>(info.block_bytes)) {
    for (const std::int32_t field : {info.scale_at, info.minimum_at}) {
      if (field < 0) continue;
      const std::uint16_t bits = scale();
      std::memcpy(&out[block + static_cast<std::size_t>(field)], &bits, 2);
    }
  }
  return out;
}

/// Packs rows into guarded memory.
inline GuardedBytes pack_rows(WeightType type, const std::vector<std::byte>& rows, std::int64_t n,
                              std::int64_t k) {
  const std::int64_t panels = (n + kPanelRows - 1) / kPanelRows;
  GuardedBytes packed(panels * panel_bytes(type, k));
  for (std::int64_t p = 0; p < panels; ++p) {
    const std::int64_t count = std::min<std::int64_t>(kPanelRows, n - p * kPanelRows);
    pack_panel(type, rows.data() + p * kPanelRows * gguf_row_bytes(type, k), count, k,
               packed.data() + p * panel_bytes(type, k));
  }
  return packed;
}

inline std::vector<WeightType> all_types() {
  std::vector<WeightType> out;
  for (int i = 0; i < kWeightTypeCount; ++i) out.push_back(static_cast<WeightType>(i));
  return out;
}

/// True for a tier that some CPU of this architecture runs.
constexpr bool is_of_this_architecture(IsaTier tier) {
#if defined(__aarch64__)
  return tier == IsaTier::baseline || tier == IsaTier::neon_dotprod;
#else
  return tier != IsaTier::neon_dotprod;
#endif
}

/// The tables of the tiers that this machine runs; what its architecture has besides is named in a
/// warning.
inline std::vector<const KernelTable*> runnable_tables() {
  std::vector<const KernelTable*> out;
  for (int i = 0; i < kIsaTierCount; ++i) {
    const auto tier = static_cast<IsaTier>(i);
    if (const KernelTable* table = kernel_table(tier)) {
      out.push_back(table);
    } else if (is_of_this_architecture(tier)) {
      WARN("tier " << isa_name(tier) << " is not tested: this machine cannot run it");
    }
  }
  return out;
}

/// True when n floats have the same bits.
inline bool same_bits(const float* a, const float* b, std::int64_t n) {
  return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(float)) == 0;
}

}  // namespace r1::kernels::test
