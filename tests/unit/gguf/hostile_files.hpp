// Crafted headers of case L1 and their like, each with the words that its error must have. Used by
// a table test and by a test under a memory limit.
#pragma once

#include <string>
#include <vector>

#include "r1/error.hpp"
#include "tests/support/gguf_bytes.hpp"

namespace r1::testing {

/// One crafted file.
struct HostileFile {
  std::string what;
  GgufBytes image;
  std::vector<std::string> words;  ///< all of them are in the message
  ErrorCode code = ErrorCode::bad_file;
};

/// Files whose header, counts or metadata lie.
std::vector<HostileFile> hostile_metadata();
/// Files whose tensor table lies.
std::vector<HostileFile> hostile_tensors();

}  // namespace r1::testing
