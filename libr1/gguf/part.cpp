// The fixed header of a GGUF file, and words for the files that people take for one.
#include "libr1/gguf/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "libr1/base/checked_math.hpp"
#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"
#include "libr1/gguf/tensor_table.hpp"

namespace r1::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::size_t kSniffBytes = 256;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// The first bytes without a byte order mark and white space, in lower case.
std::string text_head(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : lower_case(head.substr(begin));
}

/// What a file that does not start with GGUF's magic is.
std::string foreign(std::string_view head) {
  const std::string text = text_head(head);
  for (const std::string_view tag : {"<!doctype", "<html", "<head", "<body", "<?xml", "<!--"}) {
    if (text.starts_with(tag)) {
      return "is an HTML page, not a GGUF file: the download gave a web page (an error or a login) "
             "in "
             "place of the model";
    }
  }
  if (text.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer, not the model itself: fetch it with 'git lfs pull'";
  }
  if (text.starts_with("{") || text.starts_with("[")) return "is a JSON text, not a GGUF file";
  if (head.starts_with("FUGG")) return "is a big-endian GGUF file, expected a little-endian one";
  for (const std::string_view magic : {"lmgg", "fmgg", "tjgg", "algg"}) {
    if (head.starts_with(magic)) return "is a ggml file from before GGUF; expected a GGUF file";
  }
  if (head.starts_with("PK\x03\x04"))
    return "is a ZIP archive (a PyTorch checkpoint?), not a GGUF file";
  if (head.size() > 9 && head[8] == '{') {
    return "is a safetensors file, not a GGUF file: it has to be converted first";
  }
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; })) {
    return "starts with zeros, not with GGUF's magic: the download is incomplete";
  }
  return fmt::format("is not a GGUF file: expected 'GGUF' at byte 0, got {}",
                     quote_name(head.substr(0, 4)));
}

void check_magic(const Source& source) {
  std::array<char, kSniffBytes> buffer;
  const std::size_t got = source.read_at(0, std::as_writable_bytes(std::span(buffer)));
  const std::string_view head(buffer.data(), got);
  if (head.starts_with(kMagic)) return;
  std::string text;
  if (head.empty()) {
    text = "is empty, expected a GGUF file";
  } else if (kMagic.starts_with(head)) {
    text = fmt::format("has only {} bytes (download incomplete)", head.size());
  } else {
    text = foreign(head);
  }
  const bool big_endian = head.starts_with("FUGG");
  throw Error(big_endian ? ErrorCode::unsupported : ErrorCode::bad_file,
              source.name() + ": " + text);
}

void check_version(Cursor& cursor) {
  const std::int64_t at = cursor.position();
  const std::uint64_t version = cursor.bits(4, "version");
  if (version == 2 || version == 3) return;
  // A big-endian file's small version number has its only bits in the top byte: 3 reads as
  // 0x03000000.
  if (version != 0 && version % (std::uint64_t{1} << 24) == 0) {
    cursor.fail(at,
                fmt::format("version: got {:#010x}: this is a big-endian GGUF file, expected a "
                            "little-endian one",
                            version),
                ErrorCode::unsupported);
  }
  cursor.fail(at, fmt::format("GGUF version {} is not supported, expected 2 or 3", version),
              ErrorCode::unsupported);
}

std::uint64_t read_count(Cursor& cursor, std::string_view what, std::uint64_t max) {
  const std::int64_t at = cursor.position();
  const std::uint64_t count = cursor.bits(8, what);
  if (count > max)
    cursor.fail(at, fmt::format("{}: expected at most {}, got {}", what, max, count));
  return count;
}

std::uint64_t read_alignment(const Source& source, const Metadata& metadata) {
  const auto value = metadata.get_int(source, "general.alignment");
  if (!value) return kAlignmentDefault;
  const auto alignment = base::checked_cast<std::uint64_t>(*value);
  if (!alignment || !base::is_power_of_two(*alignment) || *alignment < kAlignmentMin ||
      *alignment > kAlignmentMax) {
    throw Error(
        ErrorCode::bad_file,
        fmt::format("{}: byte {}: key 'general.alignment': expected a power of two from {} to {}, "
                    "got {}",
                    source.name(), metadata.find("general.alignment")->begin, kAlignmentMin,
                    kAlignmentMax, *value));
  }
  return *alignment;
}

}  // namespace

Part read_part(Source source, int file) {
  check_magic(source);
  const std::int64_t end = std::min(source.readable(), kHeaderBytesMax);
  Cursor cursor(source, static_cast<std::int64_t>(kMagic.size()), end, end < source.readable());
  check_version(cursor);
  const std::uint64_t tensor_count = read_count(cursor, "number of tensors", kTensorsMax);
  const std::uint64_t key_count = read_count(cursor, "number of metadata keys", kKeysMax);
  Metadata metadata(cursor, key_count);
  const std::uint64_t alignment = read_alignment(source, metadata);
  std::vector<TensorInfo> tensors =
      read_tensor_table(cursor, source, tensor_count, alignment, file);
  return Part{std::move(source), std::move(metadata), std::move(tensors)};
}

}  // namespace r1::gguf
