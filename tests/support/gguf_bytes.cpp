// The byte builder: numbers in little-endian order, strings with a 64-bit length.
#include "tests/support/gguf_bytes.hpp"

#include <bit>

namespace r1::testing {

GgufBytes& GgufBytes::integer(std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return *this;
}

GgufBytes& GgufBytes::f32(float value) { return u32(std::bit_cast<std::uint32_t>(value)); }
GgufBytes& GgufBytes::f64(double value) { return u64(std::bit_cast<std::uint64_t>(value)); }

GgufBytes& GgufBytes::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

GgufBytes& GgufBytes::string(std::string_view text) { return u64(text.size()).raw(text); }

GgufBytes& GgufBytes::header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version) {
  return raw("GGUF").u32(version).u64(tensors).u64(keys);
}

GgufBytes& GgufBytes::key(std::string_view name, std::uint32_t type) {
  return string(name).u32(type);
}

GgufBytes& GgufBytes::tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                             std::uint32_t type, std::uint64_t offset) {
  string(name).u32(dims.size());
  for (const std::uint64_t dim : dims) u64(dim);
  return u32(type).u64(offset);
}

GgufBytes& GgufBytes::pad(std::size_t alignment) {
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
  return *this;
}

GgufBytes& GgufBytes::pattern(std::size_t count, unsigned first) {
  for (std::size_t i = 0; i < count; ++i) bytes_.push_back(static_cast<char>((first + i) % 251));
  return *this;
}

GgufBytes small_gguf(std::uint32_t version) {
  GgufBytes file;
  file.header(3, 3, version)
      .key_string("general.architecture", "qwen2")
      .key_u32("qwen2.block_count", 2)
      .key("words", kArray)
      .u32(kString)
      .u64(2)
      .string("ein")
      .string("zwei");
  // ggml types 0 (F32, 4 bytes), 8 (Q8_0, 34 bytes for 32 values), 1 (F16, 2 bytes).
  file.tensor("a", {4, 2}, 0, 0).tensor("b", {32, 3}, 8, 32).tensor("c", {5}, 1, 160);
  return file.pad().pattern(32, 1).pattern(102, 2).pad().pattern(10, 3);
}

}  // namespace r1::testing
