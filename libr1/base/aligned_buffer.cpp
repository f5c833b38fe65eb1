// Anonymous memory by mmap: untouched pages cost nothing, and a range can be given back on its own.
// Not an allocator: a handful of these live as long as a model or an engine.
#include "libr1/base/aligned_buffer.hpp"

#include <fmt/format.h>
#include <linux/mman.h>
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

/// Zeroed huge pages of the reserve, or null when it has not enough. They are counted when they are
/// mapped (no MAP_NORESERVE), because a page that is missing later is SIGBUS, not an error.
std::byte* map_reserved(std::size_t bytes) noexcept {
  constexpr int kTwoMiB = 21 << MAP_HUGE_SHIFT;
  void* const base = mmap(nullptr, round_up(bytes, kHugePageBytes), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kTwoMiB, -1, 0);
  return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

[[noreturn]] void fail(std::size_t bytes, const std::string& what, int error) {
  throw Error(ErrorCode::out_of_memory,
              fmt::format("{}: expected {} bytes of memory, got: {}", what, bytes,
                          std::generic_category().message(error)));
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

AlignedBuffer::AlignedBuffer(std::size_t bytes, const std::string& what, Pages pages) {
  if (bytes == 0) return;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) fail(bytes, what, ENOMEM);
  size_ = bytes;
  if (pages == Pages::reserved && (data_ = map_reserved(bytes)) != nullptr) {
    mapped_ = round_up(bytes, kHugePageBytes);
    pages_ = Pages::reserved;
    return;
  }
  const bool huge = bytes >= kHugePageBytes;
  mapped_ = round_up(bytes, page_bytes());
  const std::size_t slack = huge ? kHugePageBytes : 0;
  void* const base = mmap(nullptr, mapped_ + slack, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail(bytes, what, errno);
  data_ = static_cast<std::byte*>(base);
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(data_);
    const std::size_t head = round_up(address, kHugePageBytes) - address;
    if (head != 0) munmap(data_, head);
    data_ += head;
    if (slack != head) munmap(data_ + mapped_, slack - head);
    // Refused where the kernel has no transparent huge pages; normal pages do as well.
    madvise(data_, mapped_, MADV_HUGEPAGE);
  }
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      pages_(std::exchange(other.pages_, Pages::advised)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  std::swap(pages_, other.pages_);
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
  // Of a reserved huge page the system takes back all or, silently, nothing.
  const std::size_t page = pages_ == Pages::reserved ? kHugePageBytes : page_bytes();
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
