// Writes GGUF version 3 files: metadata of every type, tensors at an alignment, whole or as a split
// set. What it accepts, Reader reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/api/weight_type.hpp"
#include "libr1/gguf/value.hpp"

namespace r1::gguf {

/// When a new part begins. 0: no limit of that kind.
struct SplitLimit {
  std::int64_t tensors_max = 0;  ///< tensors a part
  std::int64_t bytes_max = 0;    ///< tensor bytes a part; a larger tensor gets a part of its own
};

/// Collects metadata and tensors, then writes them. Throws Error{invalid_argument} for what GGUF or
/// Reader does not allow, naming key or tensor. Not thread-safe.
class Writer {
 public:
  /// Takes a piece of a tensor's bytes.
  using Emit = std::function<void(std::span<const std::byte>)>;
  /// Makes a tensor's bytes, in any number of pieces, in order. Called once for every write.
  using Produce = std::function<void(const Emit& emit)>;

  /// `alignment`: of tensors, a power of two from 8 to 2^20; written as general.alignment unless it
  /// is 32.
  explicit Writer(std::uint32_t alignment = 32);

  /// Adds a key; keys are written in this order. general.alignment and split.* are the writer's
  /// own.
  void add(std::string key, Value value);
  /// Adds a tensor; `shape` in GGUF order (contiguous dimension first).
  void add_tensor(std::string name, std::vector<std::int64_t> shape, kernels::WeightType type,
                  Produce produce);
  /// The same from bytes that must stay until the last write.
  void add_tensor(std::string name, std::vector<std::int64_t> shape, kernels::WeightType type,
                  std::span<const std::byte> bytes);

  /// Writes one file: to a temporary name beside it, flushed, renamed. After an error nothing new
  /// is under `path`. Throws Error{io}, and what a Produce throws.
  void write(const std::string& path) const;
  /// Writes "<prefix>-00001-of-0000N.gguf" and so on; all metadata go into the first part. The
  /// parts get their names only when all are written. Returns the paths.
  std::vector<std::string> write_split(const std::string& prefix, SplitLimit limit) const;
  /// All that write() would put before the first tensor.
  std::vector<std::byte> header() const;
  /// The bytes that write() would put into the file.
  std::vector<std::byte> image() const;

 private:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    kernels::WeightType type;
    std::int64_t bytes;
    Produce produce;
  };
  using Keys = std::vector<std::pair<std::string, Value>>;

  Keys own_keys() const;
  Keys all_keys() const;
  std::vector<std::byte> make_header(const Keys& keys, std::span<const Tensor> tensors) const;
  void emit_file(const Keys& keys, std::span<const Tensor> tensors, const Emit& emit) const;
  std::vector<std::span<const Tensor>> split(SplitLimit limit) const;

  std::uint32_t alignment_;
  Keys keys_;
  std::vector<Tensor> tensors_;
  std::set<std::string, std::less<>> key_names_;
  std::set<std::string, std::less<>> tensor_names_;
};

}  // namespace r1::gguf
