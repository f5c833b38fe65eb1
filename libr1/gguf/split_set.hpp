// Split sets: a model in several files named "<prefix>-00001-of-00003.gguf" and so on, each with
// split.no, split.count and split.tensors.count (as llama.cpp's gguf-split writes them).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/base/mapped_file.hpp"
#include "libr1/gguf/part.hpp"

namespace r1::gguf {

/// A file name taken apart.
struct PartName {
  std::string prefix;  ///< folder included
  int number = 0;      ///< counts from 1
  int count = 0;
};

/// Takes `path` apart when it ends in "-NNNNN-of-NNNNN.gguf" with 1 <= number <= count; nothing
/// otherwise.
std::optional<PartName> parse_part_name(std::string_view path);
/// The path of part `number` (from 1) of `count`.
std::string part_path(const std::string& prefix, int number, int count);

/// Opens the file at `path` and, when it is a part, all others of its set, in the order of their
/// numbers. Throws Error naming the part that is missing, renamed or from another set.
std::vector<Part> open_parts(const std::string& path, base::MappedFile::Mode mode);

}  // namespace r1::gguf
