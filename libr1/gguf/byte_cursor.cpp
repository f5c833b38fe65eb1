// The cursor's window, its bounds checks and the errors they give.
#include "libr1/gguf/byte_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace r1::gguf {
namespace {

// A window of this size makes headers of real files (6 MB) about a hundred reads.
constexpr std::size_t kWindowBytes = std::size_t{64} << 10;

}  // namespace

Source::Source(base::MappedFile file)
    : name_(file.path()), file_(std::move(file)), size_(file_->size()) {}

Source::Source(std::span<const std::byte> image, std::string name)
    : Source(image, std::move(name), static_cast<std::int64_t>(image.size())) {}

Source::Source(std::span<const std::byte> image, std::string name, std::int64_t size)
    : name_(std::move(name)), image_(image), size_(size) {}

std::int64_t Source::readable() const noexcept {
  return file_ ? size_ : static_cast<std::int64_t>(image_.size());
}

std::int64_t Source::current_size() const noexcept { return file_ ? file_->current_size() : size_; }

std::span<const std::byte> Source::view() const noexcept {
  if (file_) return file_->view();
  return readable() == size_ ? image_ : std::span<const std::byte>();
}

std::size_t Source::read_at(std::int64_t offset, std::span<std::byte> out) const {
  if (file_) return file_->read_at(offset, out);
  const auto begin = std::min(static_cast<std::size_t>(offset), image_.size());
  const std::size_t count = std::min(out.size(), image_.size() - begin);
  if (count > 0) std::memcpy(out.data(), image_.data() + begin, count);
  return count;
}

void Source::release(std::int64_t offset, std::int64_t bytes) const noexcept {
  if (file_) file_->release(offset, bytes);
}

Cursor::Cursor(const Source& source, std::int64_t begin, std::int64_t end, bool limited)
    : source_(source), position_(begin), end_(end), limited_(limited) {}

void Cursor::fail(std::int64_t at, std::string_view text, ErrorCode code) const {
  throw Error(code, context_.empty()
                        ? fmt::format("{}: byte {}: {}", source_.name(), at, text)
                        : fmt::format("{}: byte {}: {}: {}", source_.name(), at, context_, text));
}

void Cursor::require(std::uint64_t bytes, std::string_view what) const {
  if (bytes <= remaining()) return;
  if (limited_) {
    fail(position_, fmt::format("{}: expected a header of at most {} bytes, got {} more at byte {}",
                                what, end_, bytes, position_));
  }
  fail(position_, fmt::format("{}: needs {} bytes, got {} until the end of the file (download "
                              "incomplete, or the file is damaged)",
                              what, bytes, remaining()));
}

void Cursor::copy(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::int64_t window_end = window_begin_ + static_cast<std::int64_t>(window_.size());
    if (position_ < window_begin_ || position_ >= window_end) {
      const auto want =
          static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, remaining()));
      window_.resize(want);
      const std::size_t got = source_.read_at(position_, window_);
      if (got < want) {
        window_.clear();
        fail(position_,
             fmt::format("expected {} bytes, got {}: the file shrank to {} bytes while it "
                         "was read",
                         want, got, source_.current_size()),
             ErrorCode::io);
      }
      window_begin_ = position_;
      continue;
    }
    const std::size_t count =
        std::min(out.size() - done, static_cast<std::size_t>(window_end - position_));
    std::memcpy(out.data() + done, window_.data() + (position_ - window_begin_), count);
    done += count;
    position_ += static_cast<std::int64_t>(count);
  }
}

std::uint64_t Cursor::bits(int width, std::string_view what) {
  require(static_cast<std::uint64_t>(width), what);
  std::byte raw[8];
  copy({raw, static_cast<std::size_t>(width)});
  std::uint64_t value = 0;
  for (int i = width; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(raw[i]);
  return value;
}

std::uint64_t Cursor::string_length(std::uint64_t bytes_max, std::string_view what) {
  const std::int64_t at = position_;
  const std::uint64_t length = bits(8, what);
  if (length > bytes_max) {
    fail(at,
         fmt::format("{}: expected at most {} bytes, got a length of {}", what, bytes_max, length));
  }
  require(length, what);
  return length;
}

std::string Cursor::string(std::uint64_t bytes_max, std::string_view what) {
  std::string out(static_cast<std::size_t>(string_length(bytes_max, what)), '\0');
  copy(std::as_writable_bytes(std::span(out)));
  return out;
}

void Cursor::skip_string(std::uint64_t bytes_max, std::string_view what) {
  skip(string_length(bytes_max, what), what);
}

void Cursor::skip(std::uint64_t bytes, std::string_view what) {
  require(bytes, what);
  position_ += static_cast<std::int64_t>(bytes);
}

}  // namespace r1::gguf
