// Small vocabularies for made-up models: the 256 byte tokens, a family's added tokens, and extra
// words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/gguf/writer.hpp"

namespace r1::support {

/// Whose added tokens a vocabulary has.
enum class Family { r1, qwen };

/// A vocabulary without merges: every text is encoded as bytes, extra words are only ever
/// generated.
class Vocabulary {
 public:
  explicit Vocabulary(Family family);

  /// Id of the token with these bytes (added tokens by their spelling); a new token if there is
  /// none.
  std::int32_t id(std::string_view bytes);
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// Writes tokenizer.ggml.*, with unused tokens up to `rows`.
  void write(gguf::Writer& writer, std::int64_t rows) const;

 private:
  Family family_;
  std::vector<std::string> bytes_;   ///< what a token decodes to
  std::vector<std::string> tokens_;  ///< its spelling in the file
  std::vector<std::int32_t> kinds_;
};

}  // namespace r1::support
