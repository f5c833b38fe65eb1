// Copies of GGUF images with a change, for tests of files that are not quite right.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libr1/gguf/writer.hpp"

namespace r1::support {

/// What a copy has that the original has not, or lacks.
struct ModelEdit {
  std::string drop = {};  ///< name of a tensor to leave out
  std::string reshape =
      {};              ///< name of a matrix whose first dimension is halved and second doubled
  bool extra = false;  ///< adds a tensor 'blk.0.surprise' that no model needs
  std::map<std::string, gguf::Value> keys = {};  ///< metadata added or replaced
  std::set<std::string> drop_keys = {};          ///< metadata left out
};

/// The image with the change.
std::vector<std::byte> edited_model(const std::vector<std::byte>& image, const ModelEdit& edit);

/// Writes the image as a split set of at most `tensors_max` tensors a part; returns the paths.
std::vector<std::string> write_split_model(const std::vector<std::byte>& image,
                                           const std::string& prefix, std::int64_t tensors_max);

}  // namespace r1::support
