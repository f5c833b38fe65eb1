// Packs a model's matrices from the file into one buffer, by all threads of a team at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "libr1/base/thread_team.hpp"
#include "libr1/gguf/reader.hpp"

namespace r1::model {

/// One matrix W[n, k] to pack: the tensor's shape is [k, n] and its type is the matrix's.
struct PackJob {
  const gguf::TensorInfo* tensor = nullptr;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t offset = 0;  ///< of the first panel in the buffer
};

/// Bytes of a packed matrix, whole panels.
std::int64_t packed_bytes(const PackJob& job);

/// Packs all jobs to `packed`, the buffer's start. `alongside` runs on the calling thread first,
/// while the others pack already; may be empty. Each thread needs about 256 KB besides, or the
/// bytes of 16 rows when those are more; the file's pages are released as it goes. `progress` gets
/// 0 before anything is read, then up to 1, on the calling thread, at most 101 times; it may be
/// empty. Throws what `alongside` or reading throws.
void pack_matrices(const gguf::Reader& file, std::span<const PackJob> jobs, std::byte* packed,
                   base::ThreadTeam& team, const std::function<void()>& alongside,
                   const std::function<void(double)>& progress);

}  // namespace r1::model
