// Tokens are sorted by their bytes; a node is where a token differs from the one before.
#include "libr1/sampling/token_trie.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libr1/text/json/string_scan.hpp"
#include "libr1/text/tokenizer.hpp"
#include "r1/error.hpp"

namespace r1::sampling {
namespace {

constexpr std::size_t kSpellingMax = 0xFFFF;  // of what Node counts

void allow(TokenMask& mask, TokenId id) {
  const auto bit = static_cast<std::size_t>(id);
  mask[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

void unite(TokenMask& mask, const TokenMask& other) {
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] |= other[i];
}

TokenTrie::Part part_of(std::string_view spelling) {
  using text::json::StringScan;
  StringScan scan = StringScan::boundary;
  bool plain = true;
  for (const char byte : spelling) {
    scan = advance(scan, static_cast<std::uint8_t>(byte));
    if (scan == StringScan::closed || scan == StringScan::broken) return TokenTrie::other;
    plain = plain && scan != StringScan::escape;
  }
  return plain && scan == StringScan::boundary ? TokenTrie::text : TokenTrie::inside;
}

// Bytes that begin a character: all but 10xxxxxx.
bool begins_character(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) != 0x80; }

}  // namespace

TokenTrie::TokenTrie(std::span<const std::string_view> spellings, std::vector<TokenId> ends)
    : ends_(std::move(ends)) {
  check_bytes(spellings);
  std::sort(ends_.begin(), ends_.end());
  std::array<std::vector<TokenId>, kParts> ids;
  starts_.reserve(spellings.size() + 1);
  starts_.push_back(0);
  for (std::size_t id = 0; id < spellings.size(); ++id) {
    const std::string_view spelling = spellings[id];
    if (!spelling.empty() && spelling.size() <= kSpellingMax) {
      bytes_.insert(bytes_.end(), spelling.begin(), spelling.end());
      ids[part_of(spelling)].push_back(static_cast<TokenId>(id));
    }
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  for (const Part part : {text, inside, other}) build(part, std::move(ids[part]));
  build_masks();
}

std::shared_ptr<const TokenTrie> TokenTrie::from_tokenizer(const text::Tokenizer& tokenizer) {
  std::vector<std::string_view> spellings(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const text::TokenKind kind = tokenizer.kind(id);
    const bool plain = kind == text::TokenKind::normal || kind == text::TokenKind::byte;
    if (plain && tokenizer.is_samplable(id) && !tokenizer.is_end_of_generation(id)) {
      spellings[i] = tokenizer.bytes(id);
    }
  }
  return std::make_shared<const TokenTrie>(spellings, tokenizer.end_of_generation());
}

void TokenTrie::check_bytes(std::span<const std::string_view> spellings) const {
  std::array<bool, 256> found{};
  for (const std::string_view spelling : spellings) {
    if (spelling.size() == 1) found[static_cast<std::uint8_t>(spelling[0])] = true;
  }
  for (unsigned byte = 0x20; byte <= 0xF4; ++byte) {
    const bool in_utf8 = byte != 0x7F && byte != 0xC0 && byte != 0xC1;
    if (in_utf8 && !found[byte]) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("json: expected a vocabulary with a token for every byte, got none "
                              "for 0x{:02x}",
                              byte));
    }
  }
}

std::string_view TokenTrie::spelling(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) return {};
  const auto i = static_cast<std::size_t>(id);
  return {bytes_.data() + starts_[i], starts_[i + 1] - starts_[i]};
}

bool TokenTrie::is_end(TokenId id) const {
  return std::binary_search(ends_.begin(), ends_.end(), id);
}

void TokenTrie::build(Part part, std::vector<TokenId> ids) {
  std::sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
    const std::string_view first = spelling(a);
    const std::string_view second = spelling(b);
    return first != second ? first < second : a < b;
  });
  std::vector<Node>& nodes = trees_[part].nodes;
  std::vector<std::uint32_t> open;  // nodes on the way to the token before
  std::string_view before;
  const auto close = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      nodes[open.back()].end = static_cast<std::uint32_t>(nodes.size());
    }
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string_view now = spelling(ids[i]);
    const auto differ = std::mismatch(now.begin(), now.end(), before.begin(), before.end());
    close(static_cast<std::size_t>(differ.first - now.begin()));
    for (std::size_t depth = open.size(); depth < now.size(); ++depth) {
      const bool whole = depth + 1 == now.size() || begins_character(now[depth + 1]);
      const int characters = (open.empty() ? 0 : nodes[open.back()].characters) + (whole ? 1 : 0);
      open.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.push_back({0, static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(depth + 1),
                       static_cast<std::uint16_t>(characters),
                       static_cast<std::uint8_t>(now[depth])});
    }
    depth_max_ = std::max(depth_max_, now.size());
    if (part == text) characters_.push_back(nodes[open.back()].characters);
    before = now;
  }
  close(0);
  nodes.push_back({0, static_cast<std::uint32_t>(ids.size()), 0, 0, 0});
  trees_[part].tokens = std::move(ids);
}

void TokenTrie::build_masks() {
  text_mask_.assign(words(), 0);
  short_text_.fill(text_mask_);
  const std::span<const TokenId> ids = tokens(text);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    allow(text_mask_, ids[i]);
    if (characters_[i] <= kShort) {
      allow(short_text_[characters_[i]], ids[i]);
    } else {
      long_text_.emplace_back(characters_[i], ids[i]);
    }
  }
  for (std::size_t i = 1; i <= kShort; ++i) unite(short_text_[i], short_text_[i - 1]);
  std::sort(long_text_.begin(), long_text_.end());
  string_mask_ = text_mask_;
  for (const TokenId id : tokens(inside)) allow(string_mask_, id);
}

void TokenTrie::allow_text(std::uint32_t characters_max, TokenMask& mask) const {
  if (long_text_.empty() || characters_max >= long_text_.back().first) {
    return unite(mask, text_mask_);
  }
  unite(mask, short_text_[std::min<std::size_t>(characters_max, kShort)]);
  for (const auto& [characters, id] : long_text_) {
    if (characters > characters_max) break;
    allow(mask, id);
  }
}

void TokenTrie::allow_string(TokenMask& mask) const { unite(mask, string_mask_); }

}  // namespace r1::sampling
