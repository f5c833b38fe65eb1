// Bytes of one GGUF file or image, and a cursor that reads them in order and never past an end. It
// knows integers and length-prefixed strings, but not what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/base/mapped_file.hpp"
#include "r1/error.hpp"

namespace r1::gguf {

/// A file or an image in memory behind one way of reading. Movable; const members are thread-safe.
class Source {
 public:
  explicit Source(base::MappedFile file);
  /// `image` must outlive the source; `name` stands for the file in errors.
  Source(std::span<const std::byte> image, std::string name);
  /// The first bytes of a file of `size` bytes; reads end where the image does.
  Source(std::span<const std::byte> image, std::string name, std::int64_t size);

  /// Path, or the image's name.
  const std::string& name() const noexcept { return name_; }
  /// Bytes when the source was made.
  std::int64_t size() const noexcept { return size_; }
  /// Bytes that can be read: size(), or those of an image that is only the beginning.
  std::int64_t readable() const noexcept;
  /// Bytes now (a file may have shrunk); -1 when unknown.
  std::int64_t current_size() const noexcept;
  /// All bytes in place: the image, or the file's mapping; empty when the file is not mapped or the
  /// image is not the whole.
  std::span<const std::byte> view() const noexcept;
  /// Copies from `offset`; returns fewer bytes than asked for only at the end. Throws Error{io}.
  std::size_t read_at(std::int64_t offset, std::span<std::byte> out) const;
  /// See MappedFile::release; nothing for images.
  void release(std::int64_t offset, std::int64_t bytes) const noexcept;

 private:
  std::string name_;
  std::optional<base::MappedFile> file_;
  std::span<const std::byte> image_;
  std::int64_t size_ = 0;
};

/// Reads little-endian values one after the other through a small window. Every length is held
/// against the bytes that remain before anything is allocated. Errors are Error{bad_file} with file
/// and byte position and what was being read. Not thread-safe.
class Cursor {
 public:
  /// Reads bytes [begin, end) of `source`, which must outlive the cursor. 0 <= begin <= end <=
  /// size. `limited`: `end` is a limit of this project, not the end of the file (errors then say
  /// so).
  Cursor(const Source& source, std::int64_t begin, std::int64_t end, bool limited = false);

  /// What errors name besides the position, for example "key 'general.name'".
  void context(std::string text) { context_ = std::move(text); }
  /// Position in the file of the next byte.
  std::int64_t position() const noexcept { return position_; }
  /// Bytes up to the end.
  std::uint64_t remaining() const noexcept { return static_cast<std::uint64_t>(end_ - position_); }

  /// Throws unless `bytes` more are there. `what`: what they would be.
  void require(std::uint64_t bytes, std::string_view what) const;
  /// An unsigned little-endian integer of `width` (1, 2, 4 or 8) bytes.
  std::uint64_t bits(int width, std::string_view what);
  /// A string with a 64-bit length in front, of at most `bytes_max` bytes.
  std::string string(std::uint64_t bytes_max, std::string_view what);
  /// Steps over such a string.
  void skip_string(std::uint64_t bytes_max, std::string_view what);
  /// Steps over `bytes`.
  void skip(std::uint64_t bytes, std::string_view what);

  /// Throws Error{code} with file, `at` (a position), context and `text`.
  [[noreturn]] void fail(std::int64_t at, std::string_view text,
                         ErrorCode code = ErrorCode::bad_file) const;

 private:
  void copy(std::span<std::byte> out);
  std::uint64_t string_length(std::uint64_t bytes_max, std::string_view what);

  const Source& source_;
  std::int64_t position_;
  std::int64_t end_;
  bool limited_;
  std::string context_;
  std::vector<std::byte> window_;
  std::int64_t window_begin_ = 0;
};

}  // namespace r1::gguf
