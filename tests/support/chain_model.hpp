// A real, loadable model whose greedy output is prescribed (fixture F2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/vocabulary.hpp"

namespace r1::support {

/// One layer whose attention and FFN add nothing: the residual is the embedding. A script token has
/// a one-hot embedding that selects its successor; every other token selects the first.
struct ChainSpec {
  Family family = Family::r1;
  /// Bytes of the tokens to come, added tokens by their spelling; none twice, none ends the prompt.
  /// At most 250.
  std::vector<std::string> script;
  bool endless = false;  ///< the last is followed by the first; else write the end token yourself
  std::string chat_template;  ///< empty: no such key
  std::int64_t context = 2048;
};

/// The file's bytes.
std::vector<std::byte> chain_model(const ChainSpec& spec);

/// Token ids of a script in that model.
std::vector<std::int32_t> chain_ids(const ChainSpec& spec);

}  // namespace r1::support
