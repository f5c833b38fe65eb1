// Fuzzes the GGUF reader: any bytes either end in an r1::Error or give a file whose every key and
// tensor can be read, and whose rewritten form reads the same.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "libr1/gguf/reader.hpp"
#include "libr1/gguf/split_set.hpp"
#include "libr1/gguf/writer.hpp"
#include "r1/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/gguf_bytes.hpp"

namespace {

using r1::Error;
using r1::gguf::Reader;
using r1::gguf::TensorInfo;
using r1::gguf::Writer;

void require(bool promise) {
  if (!promise) std::abort();
}

/// Conversions may refuse a key's type, but only by an Error of one line.
template <class Get>
void may_refuse(Get get) {
  try {
    get();
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

void read_keys(const Reader& reader) {
  for (const std::string& key : reader.keys()) {
    require(reader.has(key));
    require(reader.get(key).has_value());
    may_refuse([&] { reader.get_int(key); });
    may_refuse([&] { reader.get_float(key); });
    may_refuse([&] { reader.get_bool(key); });
    may_refuse([&] { reader.get_string(key); });
    may_refuse([&] { reader.get_strings(key); });
    may_refuse([&] { reader.get_ints(key); });
    may_refuse([&] { reader.get_floats(key); });
  }
}

std::vector<std::byte> bytes_of(const Reader& reader, const TensorInfo& tensor) {
  std::vector<std::byte> out(static_cast<std::size_t>(tensor.bytes));
  reader.read(tensor, 0, out);
  return out;
}

void read_tensors(const Reader& reader) {
  for (const TensorInfo& tensor : reader.tensors()) {
    require(reader.find(tensor.name) == &tensor);
    require(tensor.bytes > 0 && tensor.values() > 0);
    const std::vector<std::byte> bytes = bytes_of(reader, tensor);
    const std::span<const std::byte> view = reader.view(tensor);
    require(std::equal(bytes.begin(), bytes.end(), view.begin(), view.end()));
    reader.release(tensor, 0, tensor.bytes);
  }
}

/// What the reader accepts, the writer can write, and the result says the same.
void rewrite(const Reader& reader) {
  const std::int64_t alignment = reader.get_int("general.alignment").value_or(32);
  Writer writer(static_cast<std::uint32_t>(alignment));
  std::vector<std::string> keys;
  for (const std::string& key : reader.keys()) {
    if (key == "general.alignment" || key.starts_with("split.")) continue;
    writer.add(key, *reader.get(key));
    keys.push_back(key);
  }
  for (const TensorInfo& tensor : reader.tensors()) {
    writer.add_tensor(tensor.name, tensor.shape, tensor.type,
                      [&](const Writer::Emit& emit) { emit(bytes_of(reader, tensor)); });
  }
  const std::vector<std::byte> image = writer.image();
  const Reader again = Reader::from_memory(image, "again");
  std::vector<std::string> keys_again = again.keys();
  if (alignment != 32) keys_again.pop_back();
  require(keys_again == keys);
  require(again.tensors().size() == reader.tensors().size());
  for (const TensorInfo& tensor : reader.tensors()) {
    const TensorInfo* copy = again.find(tensor.name);
    require(copy && copy->shape == tensor.shape && copy->type == tensor.type);
    require(bytes_of(again, *copy) == bytes_of(reader, tensor));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> image = std::as_bytes(std::span(data, size));
  std::optional<Reader> reader;
  may_refuse([&] { reader = Reader::from_memory(image, "fuzz.gguf"); });
  // Once open, nothing of it may throw: an Error that gets out of here ends the process.
  if (reader) {
    read_keys(*reader);
    read_tensors(*reader);
    rewrite(*reader);
  }
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto name = r1::gguf::parse_part_name(text)) {
    require(r1::gguf::part_path(name->prefix, name->number, name->count) == text);
  }
  return 0;
}

std::vector<std::string> r1::fuzz::seeds() {
  using namespace r1::testing;
  GgufBytes all_types;
  all_types.header(0, 14)
      .key("u8", kUint8)
      .u8(200)
      .key("i8", kInt8)
      .u8(200)
      .key("u16", kUint16)
      .u16(1);
  all_types.key("i16", kInt16).u16(65535).key("u32", kUint32).u32(7).key("i32", kInt32).u32(7);
  all_types.key("f32", kFloat32).f32(1.5f).key("b", kBool).u8(1).key_string("s", "text");
  all_types.key("u64", kUint64)
      .u64(1ull << 40)
      .key("i64", kInt64)
      .u64(~0ull)
      .key("f64", kFloat64)
      .f64(0.1);
  all_types.key("ai", kArray).u32(kInt16).u64(3).u16(1).u16(2).u16(3);
  all_types.key("ab", kArray).u32(kBool).u64(2).u8(0).u8(1);
  GgufBytes aligned;
  aligned.header(1, 1).key_u32("general.alignment", 64).tensor("t", {256, 2}, 12, 0).pad(64);
  aligned.pattern(288);
  return {small_gguf().bytes(), small_gguf(2).bytes(), all_types.bytes(), aligned.bytes(),
          "m-00001-of-00002.gguf"};
}
