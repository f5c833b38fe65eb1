// One GGUF file, whole or part of a set: header, metadata and tensor table, parsed and checked.
#pragma once

#include <vector>

#include "libr1/gguf/byte_cursor.hpp"
#include "libr1/gguf/metadata.hpp"
#include "libr1/gguf/reader.hpp"

namespace r1::gguf {

/// A parsed file. Movable.
struct Part {
  Source source;
  Metadata metadata;
  std::vector<TensorInfo> tensors;
};

/// Parses `source` as file number `file` of its set. Throws Error{bad_file, unsupported, io}; what
/// is no GGUF at all is named for what it is.
Part read_part(Source source, int file);

}  // namespace r1::gguf
