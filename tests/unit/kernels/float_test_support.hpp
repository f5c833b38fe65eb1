// Helpers of the float kernels' tests: the tiers of this machine, memory that ends at an unreadable
// page, and reproducible random numbers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "kernels/api/table.hpp"

namespace r1::kernels::test {

/// One tier that this machine can run.
struct TierKernels {
  const char* name;
  const FloatKernels* kernels;
};

/// All tiers that this machine can run, weakest first; never empty.
inline std::vector<TierKernels> available_tiers() {
  std::vector<TierKernels> tiers;
  for (int i = 0; i < kIsaTierCount; ++i) {
    const IsaTier tier = static_cast<IsaTier>(i);
    if (const KernelTable* table = kernel_table(tier)) {
      tiers.push_back({isa_name(tier), table->floats});
    }
  }
  return tiers;
}

/// `count` objects of T whose last byte lies just before, and whose first page just behind, memory
/// that cannot be read. Filled with 0xff bytes: NaN in f32 and in f16.
template <class T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t count) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t body = (count * sizeof(T) + page - 1) / page * page;
    size_ = body + 2 * page;
    base_ = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* first = static_cast<std::byte*>(base_) + page;
    if (body > 0 && ::mprotect(first, body, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    if (body > 0) std::memset(first, 0xff, body);
    data_ = reinterpret_cast<T*>(first + body - count * sizeof(T));
  }
  explicit GuardedBuffer(const std::vector<T>& values) : GuardedBuffer(values.size()) {
    for (std::size_t i = 0; i < count_; ++i) data_[i] = values[i];
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : base_(other.base_), size_(other.size_), data_(other.data_), count_(other.count_) {
    other.base_ = nullptr;
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer() {
    if (base_ != nullptr) ::munmap(base_, size_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::vector<T> values() const { return std::vector<T>(data_, data_ + count_); }

 private:
  void* base_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// `count` normally distributed floats, the same for the same seed.
inline std::vector<float> random_floats(std::size_t count, std::uint32_t seed,
                                        float deviation = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

/// How many values differ in their bits (which tells -0 from 0 and one NaN from another), or `a`'s
/// size when the sizes differ. A count, because a failed comparison of long vectors prints all of
/// both.
inline std::size_t different_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return a.size();
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
  }
  return different;
}

}  // namespace r1::kernels::test
