// The table of tensors of one GGUF file: shapes, types and where the bytes are, all held against
// the file.
#pragma once

#include <cstdint>
#include <vector>

#include "libr1/gguf/byte_cursor.hpp"
#include "libr1/gguf/reader.hpp"

namespace r1::gguf {

/// Parses `count` entries at the cursor, which stands behind the metadata of `source`. `file` goes
/// into TensorInfo::file. Every tensor lies in the file and overlaps no other; names are unique.
/// Throws Error{bad_file, unsupported} naming the tensor.
std::vector<TensorInfo> read_tensor_table(Cursor& cursor, const Source& source, std::uint64_t count,
                                          std::uint64_t alignment, int file);

}  // namespace r1::gguf
