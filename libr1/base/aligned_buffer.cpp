// Anonymous memory by mmap: untouched pages cost nothing, and a range can be given back on its own.
// Not an allocator: a handful of these live as long as a model or an engine.
#include "libr1/base/aligned_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "r1/error.hpp"

namespace r1::base {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2}
                                       << 20;  // x86-64, and AArch64 with 4 KiB pages

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

std::string lock_failure(int error, std::size_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  const char* remedy =
      !unlimited && limit.rlim_cur < bytes
          ? "raise it (ulimit -l, systemd LimitMEMLOCK=, docker --ulimit memlock=-1)"
      : unlimited ? "free memory or raise the memory limit of the container"
                  : "it counts all that this process has locked; raise it or free memory";
  return fmt::format("cannot lock memory: {} (errno {}), needed {} bytes, RLIMIT_MEMLOCK is {}; {}",
                     std::generic_category().message(error), error, bytes,
                     unlimited ? "unlimited" : fmt::format("{} bytes", limit.rlim_cur), remedy);
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes, const std::string& what) {
  if (bytes == 0) return;
  const auto fail = [&](int error) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{}: expected {} bytes of memory, got: {}", what, bytes,
                            std::generic_category().message(error)));
  };
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) fail(ENOMEM);
  const bool huge = bytes >= kHugePageBytes;
  const std::size_t mapped = round_up(bytes, page_bytes());
  const std::size_t slack = huge ? kHugePageBytes : 0;
  void* const base = mmap(nullptr, mapped + slack, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail(errno);
  auto* begin = static_cast<std::byte*>(base);
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::size_t head = round_up(address, kHugePageBytes) - address;
    if (head != 0) munmap(begin, head);
    begin += head;
    if (slack != head) munmap(begin + mapped, slack - head);
    // Refused where the kernel has no transparent huge pages; normal pages do as well.
    madvise(begin, mapped, MADV_HUGEPAGE);
  }
  data_ = begin;
  size_ = bytes;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr) munmap(data_, round_up(size_, page_bytes()));
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  if (this != &other) AlignedBuffer drop(std::move(other));
  return *this;
}

std::string AlignedBuffer::lock() noexcept {
  if (size_ == 0 || mlock(data_, size_) == 0) return {};
  const int error = errno;
  munlock(data_, size_);  // the kernel may have locked a part
  try {
    return lock_failure(error, size_);
  } catch (...) {
    return "mlock failed";  // short enough to need no memory
  }
}

void AlignedBuffer::release(std::size_t offset, std::size_t bytes) noexcept {
  if (offset >= size_) return;
  const std::size_t end = offset + std::min(bytes, size_ - offset);
  const std::size_t page = page_bytes();
  // The last page of the buffer has no other owner, so it goes as a whole.
  const std::size_t first = round_up(offset, page);
  const std::size_t last = end == size_ ? round_up(end, page) : end / page * page;
  if (first >= last) {
    std::memset(data_ + offset, 0, end - offset);
    return;
  }
  std::memset(data_ + offset, 0, first - offset);
  if (last < end) std::memset(data_ + last, 0, end - last);
  // Locked pages cannot be given back (EINVAL); the promise that they read as zeros still holds.
  if (madvise(data_ + first, last - first, MADV_DONTNEED) != 0) {
    std::memset(data_ + first, 0, std::min(last, size_) - first);
  }
}

}  // namespace r1::base
