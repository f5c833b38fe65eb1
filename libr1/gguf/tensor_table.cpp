// Parsing and checking of tensor entries. All arithmetic on numbers from the file is checked.
#include "libr1/gguf/tensor_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "libr1/base/checked_math.hpp"
#include "libr1/gguf/ggml_type.hpp"
#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"
#include "libr1/gguf/name_index.hpp"

namespace r1::gguf {
namespace {

constexpr std::uint64_t kDimensionsMax = 4;

/// Reads the dimensions and returns their product.
std::int64_t read_shape(Cursor& cursor, TensorInfo& tensor) {
  const std::int64_t at = cursor.position();
  const std::uint64_t dimensions = cursor.bits(4, "number of dimensions");
  if (dimensions < 1 || dimensions > kDimensionsMax) {
    cursor.fail(at, fmt::format("expected 1 to 4 dimensions, got {}", dimensions));
  }
  std::optional<std::int64_t> values = 1;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    const std::int64_t dimension_at = cursor.position();
    const std::uint64_t raw = cursor.bits(8, "dimension");
    const auto dimension = base::checked_cast<std::int64_t>(raw);
    if (!dimension || *dimension == 0) {
      cursor.fail(dimension_at,
                  fmt::format("dimension {}: expected 1 to 2^63 - 1, got {}", i, raw));
    }
    values = base::checked_mul(*values, *dimension);
    if (!values) {
      cursor.fail(at, "expected fewer than 2^63 values, got a product of dimensions above that");
    }
    tensor.shape.push_back(*dimension);
  }
  return *values;
}

/// Reads the type and sets it and the tensor's bytes.
void read_tensor_type(Cursor& cursor, std::int64_t values, TensorInfo& tensor) {
  const std::int64_t at = cursor.position();
  const auto id = static_cast<std::uint32_t>(cursor.bits(4, "tensor type"));
  if (!kernels::weight_type_from_gguf(id, tensor.type)) {
    cursor.fail(at,
                fmt::format("expected one of the types {}, got {}", supported_ggml_types(),
                            describe_ggml_type(id)),
                ErrorCode::unsupported);
  }
  const kernels::FormatInfo& format = kernels::format_info(tensor.type);
  if (tensor.shape[0] % format.block_values != 0) {
    cursor.fail(at, fmt::format("{}: expected rows of a multiple of {} values, got {}", format.name,
                                format.block_values, tensor.shape[0]));
  }
  const auto bytes =
      base::checked_mul<std::int64_t>(values / format.block_values, format.block_bytes);
  if (!bytes) cursor.fail(at, fmt::format("expected fewer than 2^63 bytes, got {} values", values));
  tensor.bytes = *bytes;
}

TensorInfo read_tensor(Cursor& cursor, std::uint64_t alignment) {
  TensorInfo tensor;
  tensor.name = cursor.string(kTensorNameBytesMax, "name of tensor");
  if (tensor.name.empty()) {
    cursor.fail(cursor.position(),
                fmt::format("name of tensor: expected 1 to {} bytes, got 0", kTensorNameBytesMax));
  }
  cursor.context("tensor " + quote_name(tensor.name));
  const std::int64_t values = read_shape(cursor, tensor);
  read_tensor_type(cursor, values, tensor);
  const std::int64_t at = cursor.position();
  const std::uint64_t raw = cursor.bits(8, "offset");
  if (raw % alignment != 0) {
    cursor.fail(
        at, fmt::format("offset: expected a multiple of the alignment {}, got {}", alignment, raw));
  }
  const auto offset = base::checked_cast<std::int64_t>(raw);
  if (!offset || !base::checked_add(*offset, tensor.bytes)) {
    cursor.fail(at, fmt::format("offset: expected an end below 2^63, got offset {} and {} bytes",
                                raw, tensor.bytes));
  }
  tensor.offset = *offset;
  return tensor;
}

void check_unique(Cursor& cursor, const std::vector<TensorInfo>& tensors, std::int64_t at) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  if (const auto twice = NameIndex(names).duplicate()) {
    cursor.fail(at, fmt::format("tensor {}: expected every name once, got it as number {} and {}",
                                quote_name(tensors[twice->second].name), twice->first + 1,
                                twice->second + 1));
  }
}

/// Offsets are already positions in the file here.
void check_extents(const Source& source, const std::vector<TensorInfo>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensors[a].offset < tensors[b].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = tensors[order[i - 1]];
    const TensorInfo& after = tensors[order[i]];
    if (before.offset + before.bytes > after.offset) {
      throw Error(
          ErrorCode::bad_file,
          fmt::format("{}: tensor {}: expected a begin at byte {} or later, behind tensor {}, got "
                      "byte {}: they overlap",
                      source.name(), quote_name(after.name), before.offset + before.bytes,
                      quote_name(before.name), after.offset));
    }
  }
  // They do not overlap, so the last one in order has the largest end.
  for (const std::size_t index : order) {
    const TensorInfo& tensor = tensors[index];
    if (tensor.offset + tensor.bytes <= source.size()) continue;
    const TensorInfo& last = tensors[order.back()];
    throw Error(
        ErrorCode::bad_file,
        fmt::format("{}: tensor {} at bytes {} to {}: expected a file of {} bytes, got {} bytes "
                    "(download incomplete)",
                    source.name(), quote_name(tensor.name), tensor.offset,
                    tensor.offset + tensor.bytes, last.offset + last.bytes, source.size()));
  }
}

}  // namespace

std::int64_t TensorInfo::values() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<TensorInfo> read_tensor_table(Cursor& cursor, const Source& source, std::uint64_t count,
                                          std::uint64_t alignment, int file) {
  const std::int64_t table_at = cursor.position();
  std::vector<TensorInfo> tensors;
  for (std::uint64_t i = 0; i < count; ++i) {
    cursor.context(fmt::format("tensor {} of {}", i + 1, count));
    tensors.push_back(read_tensor(cursor, alignment));
    tensors.back().file = file;
  }
  cursor.context("");
  check_unique(cursor, tensors, table_at);
  // The header is bounded, so the sum cannot overflow.
  const std::int64_t data =
      *base::checked_align_up(cursor.position(), static_cast<std::int64_t>(alignment));
  for (TensorInfo& tensor : tensors) {
    const auto offset = base::checked_add(tensor.offset, data);
    if (!offset || !base::checked_add(*offset, tensor.bytes)) {
      cursor.fail(table_at,
                  fmt::format("tensor {}: expected an end below 2^63, got offset {} and {} "
                              "bytes",
                              quote_name(tensor.name), tensor.offset, tensor.bytes));
    }
    tensor.offset = *offset;
  }
  check_extents(source, tensors);
  return tensors;
}

}  // namespace r1::gguf
