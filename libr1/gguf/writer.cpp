// Serialisation of GGUF version 3, little-endian, by
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#include "libr1/gguf/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <concepts>
#include <deque>
#include <string_view>
#include <type_traits>

#include "libr1/base/atomic_file.hpp"
#include "libr1/base/checked_math.hpp"
#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"
#include "libr1/gguf/reader.hpp"
#include "libr1/gguf/split_set.hpp"
#include "r1/error.hpp"

namespace r1::gguf {
namespace {

constexpr std::uint32_t kVersion = 3;

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

template <class T>
constexpr ValueType value_type_of() {
  if constexpr (std::same_as<T, std::uint8_t>) return ValueType::uint8;
  if constexpr (std::same_as<T, std::int8_t>) return ValueType::int8;
  if constexpr (std::same_as<T, std::uint16_t>) return ValueType::uint16;
  if constexpr (std::same_as<T, std::int16_t>) return ValueType::int16;
  if constexpr (std::same_as<T, std::uint32_t>) return ValueType::uint32;
  if constexpr (std::same_as<T, std::int32_t>) return ValueType::int32;
  if constexpr (std::same_as<T, float>) return ValueType::float32;
  if constexpr (std::same_as<T, bool>) return ValueType::boolean;
  if constexpr (std::same_as<T, std::string>) return ValueType::string;
  if constexpr (std::same_as<T, std::uint64_t>) return ValueType::uint64;
  if constexpr (std::same_as<T, std::int64_t>) return ValueType::int64;
  if constexpr (std::same_as<T, double>) return ValueType::float64;
}

template <class T>
struct ElementOf {
  using type = void;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};

/// Appends little-endian values to a byte vector, whatever the machine's order.
class ByteSink {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (std::same_as<T, std::string>) {
      put(static_cast<std::uint64_t>(value.size()));
      const auto bytes = std::as_bytes(std::span(value));
      out_.insert(out_.end(), bytes.begin(), bytes.end());
    } else if constexpr (std::same_as<T, float>) {
      put(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::same_as<T, double>) {
      put(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<T, bool>) {
      put(static_cast<std::uint8_t>(value));
    } else {
      const auto bits = static_cast<std::make_unsigned_t<T>>(value);
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        out_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(bits) >> (8 * i)));
      }
    }
  }
  void put_value(const Value& value) {
    std::visit(
        [this](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          using Element = typename ElementOf<T>::type;
          if constexpr (std::same_as<Element, void>) {
            put(static_cast<std::uint32_t>(value_type_of<T>()));
            put(v);
          } else {
            put(static_cast<std::uint32_t>(ValueType::array));
            put(static_cast<std::uint32_t>(value_type_of<Element>()));
            put(static_cast<std::uint64_t>(v.size()));
            for (const auto& element : v) put<Element>(element);
          }
        },
        value);
  }
  void pad_to(std::size_t alignment) {
    out_.resize(*base::checked_align_up(out_.size(), alignment));
  }
  std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

void check_string(const std::string& key, const std::string& text) {
  if (text.size() > kStringBytesMax) {
    fail(fmt::format("key {}: expected a string of at most {} bytes, got {}", quote_name(key),
                     kStringBytesMax, text.size()));
  }
}

void check_value(const std::string& key, const Value& value) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::same_as<T, std::string>) {
          check_string(key, v);
        } else if constexpr (!std::is_arithmetic_v<T>) {
          if (v.size() > kArrayElementsMax) {
            fail(fmt::format("key {}: expected an array of at most {} elements, got {}",
                             quote_name(key), kArrayElementsMax, v.size()));
          }
          if constexpr (std::same_as<T, std::vector<std::string>>) {
            for (const std::string& text : v) check_string(key, text);
          }
        }
      },
      value);
}

/// Bytes of a tensor; throws when its shape is not possible.
std::int64_t tensor_bytes(const std::string& name, const std::vector<std::int64_t>& shape,
                          kernels::WeightType type) {
  const kernels::FormatInfo& format = kernels::format_info(type);
  if (shape.empty() || shape.size() > 4) {
    fail(fmt::format("tensor {}: expected 1 to 4 dimensions, got {}", quote_name(name),
                     shape.size()));
  }
  std::optional<std::int64_t> values = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 1) {
      fail(fmt::format("tensor {}: expected dimensions above 0, got {}", quote_name(name),
                       dimension));
    }
    if (values) values = base::checked_mul(*values, dimension);
  }
  if (shape[0] % format.block_values != 0) {
    fail(fmt::format("tensor {}: {}: expected rows of a multiple of {} values, got {}",
                     quote_name(name), format.name, format.block_values, shape[0]));
  }
  const auto bytes =
      values ? base::checked_mul<std::int64_t>(*values / format.block_values, format.block_bytes)
             : std::nullopt;
  if (!bytes)
    fail(fmt::format("tensor {}: expected fewer than 2^63 bytes, got more", quote_name(name)));
  return *bytes;
}

}  // namespace

Writer::Writer(std::uint32_t alignment) : alignment_(alignment) {
  if (!base::is_power_of_two(alignment) || alignment < kAlignmentMin || alignment > kAlignmentMax) {
    fail(fmt::format("alignment: expected a power of two from {} to {}, got {}", kAlignmentMin,
                     kAlignmentMax, alignment));
  }
}

void Writer::add(std::string key, Value value) {
  if (key.empty() || key.size() > kKeyBytesMax) {
    fail(fmt::format("key {}: expected 1 to {} bytes, got {}", quote_name(key), kKeyBytesMax,
                     key.size()));
  }
  if (key == "general.alignment" || key.starts_with("split.")) {
    fail(
        fmt::format("key {}: expected a key that the writer does not set itself", quote_name(key)));
  }
  check_value(key, value);
  if (!key_names_.insert(key).second) fail(fmt::format("key {}: added twice", quote_name(key)));
  keys_.emplace_back(std::move(key), std::move(value));
}

void Writer::add_tensor(std::string name, std::vector<std::int64_t> shape, kernels::WeightType type,
                        Produce produce) {
  if (name.empty() || name.size() > kTensorNameBytesMax) {
    fail(fmt::format("tensor {}: expected a name of 1 to {} bytes, got {}", quote_name(name),
                     kTensorNameBytesMax, name.size()));
  }
  const std::int64_t bytes = tensor_bytes(name, shape, type);
  if (!tensor_names_.insert(name).second)
    fail(fmt::format("tensor {}: added twice", quote_name(name)));
  tensors_.push_back({std::move(name), std::move(shape), type, bytes, std::move(produce)});
}

void Writer::add_tensor(std::string name, std::vector<std::int64_t> shape, kernels::WeightType type,
                        std::span<const std::byte> bytes) {
  add_tensor(std::move(name), std::move(shape), type, [bytes](const Emit& emit) { emit(bytes); });
}

Writer::Keys Writer::own_keys() const {
  if (alignment_ == kAlignmentDefault) return {};
  return {{"general.alignment", alignment_}};
}

Writer::Keys Writer::all_keys() const {
  Keys keys = keys_;
  for (auto& key : own_keys()) keys.push_back(std::move(key));
  return keys;
}

std::vector<std::byte> Writer::make_header(const Keys& keys,
                                           std::span<const Tensor> tensors) const {
  if (keys.size() > kKeysMax || tensors.size() > kTensorsMax) {
    fail(fmt::format("expected at most {} keys and {} tensors, got {} and {}", kKeysMax,
                     kTensorsMax, keys.size(), tensors.size()));
  }
  ByteSink sink;
  for (const char c : {'G', 'G', 'U', 'F'}) sink.put(static_cast<std::uint8_t>(c));
  sink.put(kVersion);
  sink.put(static_cast<std::uint64_t>(tensors.size()));
  sink.put(static_cast<std::uint64_t>(keys.size()));
  for (const auto& [key, value] : keys) {
    sink.put(key);
    sink.put_value(value);
  }
  std::int64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    sink.put(tensor.name);
    sink.put(static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::int64_t dimension : tensor.shape) sink.put(dimension);
    sink.put(kernels::format_info(tensor.type).gguf_id);
    sink.put(offset);
    const auto end = base::checked_add(offset, tensor.bytes);
    const auto next =
        end ? base::checked_align_up(*end, static_cast<std::int64_t>(alignment_)) : std::nullopt;
    if (!next) fail("tensors: expected fewer than 2^63 bytes in total, got more");
    offset = *next;
  }
  if (sink.size() > static_cast<std::size_t>(kHeaderBytesMax)) {
    fail(fmt::format("header: expected at most {} bytes, got {}", kHeaderBytesMax, sink.size()));
  }
  sink.pad_to(alignment_);
  return sink.take();
}

void Writer::emit_file(const Keys& keys, std::span<const Tensor> tensors, const Emit& emit) const {
  emit(make_header(keys, tensors));
  const std::vector<std::byte> zeros(alignment_);
  for (const Tensor& tensor : tensors) {
    std::int64_t done = 0;
    tensor.produce([&](std::span<const std::byte> piece) {
      done += static_cast<std::int64_t>(piece.size());
      if (done <= tensor.bytes) emit(piece);
    });
    if (done != tensor.bytes) {
      fail(fmt::format("tensor {}: expected {} bytes, got {}", quote_name(tensor.name),
                       tensor.bytes, done));
    }
    const std::int64_t end = *base::checked_align_up(done, static_cast<std::int64_t>(alignment_));
    emit(std::span(zeros).first(static_cast<std::size_t>(end - done)));
  }
}

std::vector<std::byte> Writer::header() const { return make_header(all_keys(), tensors_); }

std::vector<std::byte> Writer::image() const {
  std::vector<std::byte> out;
  emit_file(all_keys(), tensors_, [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  });
  return out;
}

void Writer::write(const std::string& path) const {
  base::AtomicFile file(path);
  emit_file(all_keys(), tensors_, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.publish();
}

std::vector<std::span<const Writer::Tensor>> Writer::split(SplitLimit limit) const {
  std::vector<std::span<const Tensor>> parts;
  const std::span<const Tensor> all(tensors_);
  std::size_t begin = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool full =
        (limit.tensors_max > 0 && static_cast<std::int64_t>(i - begin) >= limit.tensors_max) ||
        (limit.bytes_max > 0 && all[i].bytes > limit.bytes_max - bytes);
    if (full && i > begin) {
      parts.push_back(all.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += all[i].bytes;
  }
  parts.push_back(all.subspan(begin));
  if (static_cast<std::int64_t>(parts.size()) > kPartsMax) {
    fail(fmt::format("split: expected at most {} parts, got {}", kPartsMax, parts.size()));
  }
  return parts;
}

std::vector<std::string> Writer::write_split(const std::string& prefix, SplitLimit limit) const {
  const auto parts = split(limit);
  const auto count = static_cast<int>(parts.size());
  std::deque<base::AtomicFile> files;
  for (int i = 0; i < count; ++i) {
    Keys keys = i == 0 ? keys_ : Keys{};
    for (auto& key : own_keys()) keys.push_back(std::move(key));
    // Key types as in llama.cpp's gguf-split.
    keys.emplace_back("split.no", static_cast<std::uint16_t>(i));
    keys.emplace_back("split.count", static_cast<std::uint16_t>(count));
    keys.emplace_back("split.tensors.count", static_cast<std::int32_t>(tensors_.size()));
    base::AtomicFile& file = files.emplace_back(part_path(prefix, i + 1, count));
    emit_file(keys, parts[static_cast<std::size_t>(i)],
              [&](std::span<const std::byte> bytes) { file.write(bytes); });
    file.finish();
  }
  std::vector<std::string> paths;
  try {
    for (base::AtomicFile& file : files) {
      file.publish();
      paths.push_back(file.path());
    }
  } catch (const Error&) {
    // Half a set must not stay.
    for (const std::string& path : paths) ::unlink(path.c_str());
    throw;
  }
  return paths;
}

}  // namespace r1::gguf
