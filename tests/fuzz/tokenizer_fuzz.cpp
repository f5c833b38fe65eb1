// Fuzz target of the tokenizer. The first byte chooses between text on a small vocabulary, with the
// properties that must hold for any bytes, and a vocabulary made of the input, which may only be
// refused with an r1::Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/text/byte_alphabet.hpp"
#include "libr1/text/stream_decoder.hpp"
#include "libr1/text/tokenizer.hpp"
#include "libr1/text/tokenizer_spec.hpp"
#include "libr1/text/unicode.hpp"
#include "libr1/text/utf8.hpp"
#include "r1/error.hpp"

namespace {

using r1::PromptPiece;
using r1::TokenId;
using r1::text::StreamDecoder;
using r1::text::Tokenizer;
using r1::text::TokenizerSpec;
using r1::text::TokenKind;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A specification with the byte tokens only.
TokenizerSpec byte_spec() {
  TokenizerSpec spec;
  spec.file = "fuzz";
  spec.architecture = "qwen2";
  spec.model = "gpt2";
  spec.pre = "qwen2";
  for (int byte = 0; byte < 256; ++byte) {
    spec.tokens.emplace_back();
    r1::text::append_utf8(spec.tokens.back(),
                          r1::text::byte_to_letter(static_cast<std::uint8_t>(byte)));
  }
  spec.kinds.assign(256, static_cast<int>(TokenKind::normal));
  spec.merges.emplace();
  return spec;
}

const Tokenizer& small_tokenizer() {
  static const auto tokenizer = [] {
    TokenizerSpec spec = byte_spec();
    for (const char* merge : {"a a", "aa aa", "a b", "Ġ Ġ", "Ġ a", "Ċ Ċ", "Ì ģ", "< |"}) {
      const std::string_view rule = merge;
      spec.merges->emplace_back(rule);
      const std::size_t blank = rule.find(' ');
      spec.tokens.push_back(std::string(rule.substr(0, blank)) +
                            std::string(rule.substr(blank + 1)));
    }
    spec.kinds.resize(spec.tokens.size(), static_cast<int>(TokenKind::normal));
    for (const char* added : {"<|", "<|a|>", "<|a", "\n", "é", "aaaa"})
      spec.tokens.emplace_back(added);
    spec.kinds.resize(spec.tokens.size(), static_cast<int>(TokenKind::control));
    return Tokenizer::from_spec(spec, nullptr);
  }();
  return *tokenizer;
}

std::string decoded(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += tokenizer.bytes(id);
  return out;
}

/// The input cut at bytes 0xFE; a piece that starts with 0xFD is parsed for added tokens.
std::vector<PromptPiece> pieces_of(std::string_view input) {
  std::vector<PromptPiece> pieces;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\xFE'), input.size());
    std::string_view text = input.substr(0, end);
    const bool parse_special = text.starts_with('\xFD');
    if (parse_special) text.remove_prefix(1);
    pieces.push_back({std::string(text), parse_special});
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return pieces;
}

void check_text(std::string_view input) {
  const Tokenizer& tokenizer = small_tokenizer();
  std::vector<PromptPiece> pieces = pieces_of(input);
  const std::vector<TokenId> ids = tokenizer.encode(pieces);
  const bool any_special = std::any_of(pieces.begin(), pieces.end(),
                                       [](const PromptPiece& p) { return p.parse_special; });
  std::string whole;
  for (const PromptPiece& piece : pieces) whole += piece.text;
  if (any_special) {
    // An added token stops composition, so that only a second NFC makes both sides equal.
    require(r1::text::nfc(decoded(tokenizer, ids)) == r1::text::nfc(whole));
  } else {
    const PromptPiece joined{whole, false};
    require(ids == tokenizer.encode(std::span<const PromptPiece>(&joined, 1)));
    require(decoded(tokenizer, ids) == r1::text::nfc(whole));
    for (const TokenId id : ids) require(tokenizer.kind(id) == TokenKind::normal);
  }
  StreamDecoder decoder;
  std::string streamed;
  for (const TokenId id : ids) streamed += decoder.feed(tokenizer.bytes(id));
  streamed += decoder.finish();
  require(r1::text::is_utf8(streamed));
  require(streamed == r1::text::repair_utf8(decoded(tokenizer, ids)));
}

/// Lines of the input become tokens (by first letter of one kind or another) and merges.
void check_vocabulary(std::string_view input) {
  TokenizerSpec spec = byte_spec();
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string line(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.starts_with('m')) {
      spec.merges->push_back(line.substr(1));
    } else if (line.starts_with('e')) {
      spec.eos = std::atoi(line.c_str() + 1);
    } else if (line.starts_with('b')) {
      spec.bos = std::atoi(line.c_str() + 1);
      spec.add_bos = true;
    } else if (!line.empty()) {
      spec.kinds.push_back(line[0] - '0');
      spec.tokens.push_back(line.substr(1));
    }
  }
  try {
    const auto tokenizer = Tokenizer::from_spec(spec, [](std::string_view) {});
    const PromptPiece piece{"<|im_start|>user\na b\u0301 <think>", true};
    const std::string text = decoded(*tokenizer, tokenizer->encode(std::span(&piece, 1)));
    // All byte tokens are there, so no text can be lost.
    require(r1::text::nfc(text) == r1::text::nfc(piece.text));
  } catch (const r1::Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    check_text(input);
  } else {
    check_vocabulary(input);
  }
  return 0;
}
