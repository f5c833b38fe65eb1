// Builds GGUF images byte by byte from the format's description, so that tests can also express
// wrong ones. It checks nothing and shares no code with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r1::testing {

/// Numbers of metadata types (gguf.md, gguf_metadata_value_type).
enum GgufType : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

/// Appends little-endian pieces. Every member returns *this for chaining.
class GgufBytes {
 public:
  /// An integer of 1, 2, 4 or 8 bytes.
  GgufBytes& u8(std::uint64_t value) { return integer(value, 1); }
  GgufBytes& u16(std::uint64_t value) { return integer(value, 2); }
  GgufBytes& u32(std::uint64_t value) { return integer(value, 4); }
  GgufBytes& u64(std::uint64_t value) { return integer(value, 8); }
  /// IEEE-754 values.
  GgufBytes& f32(float value);
  GgufBytes& f64(double value);
  /// Bytes as they are.
  GgufBytes& raw(std::string_view bytes);
  /// A 64-bit length and the bytes.
  GgufBytes& string(std::string_view text);
  /// Magic, version and the two counts.
  GgufBytes& header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3);
  /// A key's name and the type of its value, which must follow.
  GgufBytes& key(std::string_view name, std::uint32_t type);
  /// Whole keys.
  GgufBytes& key_u16(std::string_view name, std::uint64_t value) {
    return key(name, kUint16).u16(value);
  }
  GgufBytes& key_u32(std::string_view name, std::uint64_t value) {
    return key(name, kUint32).u32(value);
  }
  GgufBytes& key_string(std::string_view name, std::string_view text) {
    return key(name, kString).string(text);
  }
  /// A tensor entry; `type` is a ggml number, `offset` counts from the begin of the tensor data.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                    std::uint32_t type, std::uint64_t offset);
  /// Zeros up to a multiple of `alignment`.
  GgufBytes& pad(std::size_t alignment = 32);
  /// `count` bytes of a pattern that differs at every position: (first + i) mod 251.
  GgufBytes& pattern(std::size_t count, unsigned first = 0);

  /// What was built.
  const std::string& bytes() const { return bytes_; }
  /// The same as std::byte, valid until the next change.
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

 private:
  GgufBytes& integer(std::uint64_t value, int width);
  std::string bytes_;
};

/// A small right file: three keys (general.architecture "qwen2", an uint32 and a string array) and
/// the tensors 'a' F32 [4, 2], 'b' Q8_0 [32, 3], 'c' F16 [5], each filled with pattern(bytes,
/// number).
GgufBytes small_gguf(std::uint32_t version = 3);

}  // namespace r1::testing
