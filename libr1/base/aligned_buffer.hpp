// One large reservation of zeroed memory, aligned to pages, with huge pages where the system gives
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace r1::base {

/// Which pages a buffer lies on.
enum class Pages {
  advised,   ///< normal ones; the system is asked to make them huge where it can
  reserved,  ///< huge pages that the administrator has set aside; advised ones when too few are
             ///< free
};

/// Owns anonymous memory; pages cost nothing until they are touched. Movable.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Reserves `bytes` (0 is fine). Throws Error{out_of_memory} naming `what`.
  AlignedBuffer(std::size_t bytes, const std::string& what, Pages pages = Pages::advised);
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  /// What the buffer got. Reserved pages are taken as a whole or not at all.
  Pages pages() const noexcept { return pages_; }

  /// Locks the memory; returns an empty string, or one line with the cause, the limit and the bytes
  /// needed.
  std::string lock() noexcept;
  /// Gives the pages of a range back to the system; they read as zeros afterwards.
  void release(std::size_t offset, std::size_t bytes) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;  ///< bytes of whole pages
  Pages pages_ = Pages::advised;
};

}  // namespace r1::base
