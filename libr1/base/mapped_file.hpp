// A regular file opened for reading: by pread always, and as a mapping when asked for. It knows
// nothing of what is in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace r1::base {

/// Owns a descriptor and, in mode `map`, a read-only mapping of the whole file. Movable. All const
/// members may be called from any thread.
class MappedFile {
 public:
  /// How the bytes are reached.
  enum class Mode { map, read };

  /// Opens `path`. Throws Error{io} naming the path and the cause when it is missing, is a
  /// directory or other special file, or may not be read. When the system refuses the mapping (some
  /// network and FUSE file systems do), view() stays empty and read_at() still works.
  MappedFile(const std::string& path, Mode mode);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  /// As given at opening.
  const std::string& path() const noexcept { return path_; }
  /// Bytes at opening.
  std::int64_t size() const noexcept { return size_; }
  /// Bytes now; -1 when the system does not tell.
  std::int64_t current_size() const noexcept;

  /// The mapped file, empty in mode `read`. Touching pages of a file that has shrunk, or whose disk
  /// fails, raises SIGBUS: only for files that this process trusts to stay. read_at() has no such
  /// risk.
  std::span<const std::byte> view() const noexcept { return {map_, map_ ? map_size_ : 0}; }

  /// Copies up to out.size() bytes from `offset` and returns how many there were: fewer than asked
  /// for only at the end of the file. Goes through pread in both modes, so that a file that shrinks
  /// or fails ends in a short count or Error{io}, never in SIGBUS.
  std::size_t read_at(std::int64_t offset, std::span<std::byte> out) const;

  /// Says that a range is not needed again. Mapped pages leave this process's resident set but stay
  /// in the page cache; in mode `read` the page cache may drop them. The bytes stay readable.
  void release(std::int64_t offset, std::int64_t bytes) const noexcept;

 private:
  void close() noexcept;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::byte* map_ = nullptr;
  std::size_t map_size_ = 0;
};

}  // namespace r1::base
