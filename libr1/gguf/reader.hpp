// Reads GGUF files: bounds-checked, versions 2 and 3, little-endian, split sets. A file may also be
// an image in memory, or a header whose tensors are made when they are read.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/weight_type.hpp"
#include "libr1/gguf/value.hpp"

namespace r1::gguf {

/// Type numbers of metadata values.
enum class ValueType : std::uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12,
};

/// One tensor of the file (or of the set).
struct TensorInfo {
  std::string name;
  std::vector<std::int64_t>
      shape;  ///< GGUF order: shape[0] is the contiguous dimension (k); 1 to 4 dims
  kernels::WeightType type;
  std::int64_t bytes = 0;
  int file = 0;             ///< which file of the set
  std::int64_t offset = 0;  ///< of the first byte, from the start of that file
  /// Product of the dimensions.
  std::int64_t values() const;
};

/// How a file's bytes are reached. `map`: the file is mapped as well, so that view() works, and
/// stays in the page cache. `read`: nothing is mapped, and released ranges may leave the page
/// cache.
enum class Access { map, read };

/// Fills `out` with bytes [begin, begin + out.size()) of a tensor. Called from any thread, also
/// from several at once, with any range within the tensor.
using MakeBytes =
    std::function<void(const TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out)>;

/// An open GGUF file or split set. Everything was checked against the files' sizes. Thread-safe
/// once made.
class Reader {
 public:
  /// Opens `path`; any part of a split set opens the whole set. Throws Error{io, bad_file,
  /// unsupported} with file, offset or tensor, expected and got.
  static Reader open(const std::string& path, Access access = Access::map);
  /// Reads an image in memory, which must outlive the reader. `name` stands for the file in errors.
  static Reader from_memory(std::span<const std::byte> image, const std::string& name);
  /// A file of which only the header exists (Writer::header()): `make` gives the tensors' bytes.
  /// `name` stands for the file in errors. Throws as open() does.
  static Reader from_generator(std::vector<std::byte> header, MakeBytes make,
                               const std::string& name);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// The name errors use: the path.
  const std::string& name() const;
  bool has(std::string_view key) const;
  /// All keys in file order.
  std::vector<std::string> keys() const;
  /// Any integer width; throws Error{bad_file} when the key has another type or does not fit.
  /// Empty: no such key.
  std::optional<std::int64_t> get_int(std::string_view key) const;
  /// Floats and integers of any width.
  std::optional<double> get_float(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string> get_string(std::string_view key) const;
  std::optional<std::vector<std::string>> get_strings(std::string_view key) const;
  /// An array of integers of any width, or of booleans.
  std::optional<std::vector<std::int64_t>> get_ints(std::string_view key) const;
  std::optional<std::vector<double>> get_floats(std::string_view key) const;
  /// The value with its exact type, for tools that copy metadata into another file.
  std::optional<Value> get(std::string_view key) const;

  const std::vector<TensorInfo>& tensors() const;
  /// Null when there is none.
  const TensorInfo* find(std::string_view name) const;
  /// Copies bytes [begin, begin + out.size()) of a tensor with pread, whatever the access: a file
  /// that shrank or fails gives Error{io} naming tensor and bytes, never SIGBUS. Throws
  /// Error{invalid_argument} for a range outside the tensor.
  void read(const TensorInfo& tensor, std::int64_t begin, std::span<std::byte> out) const;
  /// A tensor's bytes in place, valid as long as the reader (or image); empty with Access::read and
  /// for bytes that are made.
  /// Touching them after the file shrank raises SIGBUS, so loading goes through read().
  std::span<const std::byte> view(const TensorInfo& tensor) const;
  /// Tells that a tensor's bytes are not needed again, so that mapped pages leave memory.
  void release(const TensorInfo& tensor, std::int64_t begin, std::int64_t bytes) const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace r1::gguf
