// Reads kinds, spellings and merges, then lets vocabulary_ends.cpp settle where texts begin and
// end.
#include "libr1/text/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "libr1/text/byte_alphabet.hpp"
#include "libr1/text/spelling_index.hpp"
#include "libr1/text/utf8.hpp"
#include "libr1/text/well_known_tokens.hpp"
#include "r1/error.hpp"

namespace r1::text {
namespace {

/// Rows that only fill the vocabulary up: `[PAD151665]` (with its own id), `<unused12>`, or no
/// spelling at all.
bool is_filler(std::string_view spelling, std::size_t id) {
  if (spelling.empty()) return true;
  if (spelling.starts_with("[PAD")) return spelling == fmt::format("[PAD{}]", id);
  if (!spelling.starts_with("<unused") || !spelling.ends_with('>')) return false;
  const std::string_view digits = spelling.substr(7, spelling.size() - 8);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The byte that `<0x0A>` stands for.
std::optional<char> hex_byte(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>')
    return std::nullopt;
  unsigned value = 0;
  for (const char c : spelling.substr(3, 2)) {
    const std::size_t digit = std::string_view("0123456789ABCDEF").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return static_cast<char>(value);
}

/// The first eight bytes as a number that is ordered as they are; missing ones count as zeros.
std::uint64_t leading_bytes(std::string_view text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    out = out << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return out;
}

}  // namespace

Vocabulary::Vocabulary(const TokenizerSpec& spec, const WarningSink& warn) {
  if (spec.tokens.empty() ||
      spec.tokens.size() > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: tokenizer.ggml.tokens: expected 1 to 2^31-1 tokens, got {}",
                            spec.file, spec.tokens.size()));
  }
  read_kinds(spec, warn);
  promote_well_known(spec, warn);
  read_bytes(spec);
  index_bytes(spec, warn);
  read_merges(spec, warn);
  is_r1_ = find_added(kR1Assistant) >= 0 && find_added(kThinkOpen) >= 0;
  settle_end(spec, warn);
  settle_bos(spec, warn);
}

const std::string& Vocabulary::bytes(TokenId id) const {
  return in_range(id) ? bytes_[static_cast<std::size_t>(id)] : no_bytes_;
}

TokenKind Vocabulary::kind(TokenId id) const {
  return in_range(id) ? kinds_[static_cast<std::size_t>(id)] : TokenKind::unused;
}

bool Vocabulary::is_samplable(TokenId id) const { return kind(id) != TokenKind::unused; }

bool Vocabulary::is_added(TokenId id) const {
  return kind(id) == TokenKind::control || kind(id) == TokenKind::user_defined;
}

bool Vocabulary::is_end_of_generation(TokenId id) const {
  return std::binary_search(end_of_generation_.begin(), end_of_generation_.end(), id);
}

TokenId Vocabulary::find(std::string_view utf8) const {
  const auto found =
      std::lower_bound(by_bytes_.begin(), by_bytes_.end(), utf8,
                       [this](TokenId id, std::string_view b) { return bytes(id) < b; });
  return found != by_bytes_.end() && bytes(*found) == utf8 ? *found : -1;
}

TokenId Vocabulary::find_added(std::string_view utf8) const {
  const TokenId id = find(utf8);
  return is_added(id) ? id : -1;
}

void Vocabulary::read_kinds(const TokenizerSpec& spec, const WarningSink& warn) {
  const std::size_t count = spec.tokens.size();
  kinds_.assign(count, TokenKind::normal);
  if (spec.kinds.empty()) {
    if (warn) {
      warn(fmt::format(
          "{}: tokenizer.ggml.token_type: expected an array, got none; all tokens but the "
          "well-known added ones are taken as normal",
          spec.file));
    }
  } else if (spec.kinds.size() != count) {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: tokenizer.ggml.token_type: expected {} values, got {}", spec.file,
                            count, spec.kinds.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    // 0 is "undefined" in older files and was treated as normal by the programs that wrote them.
    const std::int64_t number = spec.kinds.empty() || spec.kinds[i] == 0 ? 1 : spec.kinds[i];
    if (number < 1 || number > 6) {
      throw Error(ErrorCode::bad_file,
                  fmt::format("{}: tokenizer.ggml.token_type[{}]: expected 0 to 6, got {}",
                              spec.file, i, number));
    }
    kinds_[i] = is_filler(spec.tokens[i], i) ? TokenKind::unused : static_cast<TokenKind>(number);
  }
}

void Vocabulary::promote_well_known(const TokenizerSpec& spec, const WarningSink& warn) {
  struct Found {
    std::optional<std::size_t> last;
    bool has_added = false;
  };
  const std::span<const WellKnownToken> known = well_known_tokens();
  std::vector<Found> found(known.size());
  std::array<bool, 256> is_first{};
  for (const WellKnownToken& token : known) {
    is_first[static_cast<unsigned char>(token.spelling.front())] = true;
  }
  for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
    const std::string& spelling = spec.tokens[i];
    if (kinds_[i] == TokenKind::unused || !is_first[static_cast<unsigned char>(spelling[0])]) {
      continue;
    }
    for (std::size_t j = 0; j < known.size(); ++j) {
      if (spelling != known[j].spelling) continue;
      found[j].has_added = found[j].has_added || kinds_[i] != TokenKind::normal;
      // Added tokens follow the normal vocabulary, so the last one of that spelling is meant.
      found[j].last = i;
    }
  }
  std::size_t promoted = 0;
  std::size_t first = 0;
  for (std::size_t j = 0; j < known.size(); ++j) {
    if (!found[j].last || found[j].has_added) continue;
    kinds_[*found[j].last] = known[j].kind;
    if (promoted++ == 0) first = *found[j].last;
  }
  if (promoted > 0 && warn && !spec.kinds.empty()) {
    warn(fmt::format(
        "{}: tokenizer.ggml.token_type: {} added tokens are marked as normal, the first of them "
        "{} '{}'; they are taken as added tokens",
        spec.file, promoted, first, printable(spec.tokens[first])));
  }
}

void Vocabulary::read_bytes(const TokenizerSpec& spec) {
  bytes_.resize(spec.tokens.size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const std::string& spelling = spec.tokens[i];
    if (kinds_[i] == TokenKind::unused) continue;
    if (kinds_[i] == TokenKind::normal) {
      bytes_[i] = bytes_of_spelling(spelling).value_or(spelling);
    } else if (const auto byte = hex_byte(spelling); byte && kinds_[i] == TokenKind::byte) {
      bytes_[i] = std::string(1, *byte);
    } else {
      bytes_[i] = spelling;
    }
  }
}

void Vocabulary::index_bytes(const TokenizerSpec& spec, const WarningSink& warn) {
  // Most tokens differ within eight bytes, which spares the comparison of strings.
  struct Key {
    std::uint64_t leading;
    TokenId id;
  };
  std::vector<Key> keys;
  keys.reserve(bytes_.size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (kinds_[i] == TokenKind::unused) continue;
    keys.push_back({leading_bytes(bytes_[i]), static_cast<TokenId>(i)});
  }
  std::sort(keys.begin(), keys.end(), [this](const Key& a, const Key& b) {
    if (a.leading != b.leading) return a.leading < b.leading;
    const int order = bytes(a.id).compare(bytes(b.id));
    if (order != 0) return order < 0;
    return is_added(a.id) != is_added(b.id) ? is_added(a.id) : a.id < b.id;
  });
  by_bytes_.reserve(keys.size());
  for (const Key& key : keys) by_bytes_.push_back(key.id);
  std::size_t duplicates = 0;
  TokenId example = -1;
  for (std::size_t i = 1; i < by_bytes_.size(); ++i) {
    const TokenId id = by_bytes_[i];
    const TokenId before = by_bytes_[i - 1];
    if (bytes(id) != bytes(before) || is_added(id) != is_added(before)) continue;
    if (duplicates++ == 0) example = id;
  }
  if (duplicates > 0 && warn) {
    warn(fmt::format(
        "{}: tokenizer.ggml.tokens: {} tokens spell what an earlier one does, among them {} '{}'; "
        "text is encoded with the first",
        spec.file, duplicates, example, printable(bytes(example))));
  }
}

void Vocabulary::read_merges(const TokenizerSpec& spec, const WarningSink& warn) {
  if (!spec.merges) {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: tokenizer.ggml.merges: expected an array of strings, got none",
                            spec.file));
  }
  const SpellingIndex ids(spec.tokens, kinds_);
  std::size_t missing_bytes = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, byte_to_letter(static_cast<std::uint8_t>(byte)));
    byte_ids_[byte] = ids.find(letter);
    missing_bytes += byte_ids_[byte] < 0 ? 1 : 0;
  }
  if (missing_bytes > 0 && warn) {
    warn(fmt::format(
        "{}: tokenizer.ggml.tokens: expected a token for each of the 256 bytes, {} have none and "
        "are left out of prompts",
        spec.file, missing_bytes));
  }
  std::size_t ignored = 0;
  std::size_t first_ignored = 0;
  std::string joined;
  merges_.reserve(spec.merges->size());
  for (std::size_t rank = 0; rank < spec.merges->size(); ++rank) {
    const std::string_view rule = (*spec.merges)[rank];
    const std::size_t blank = std::min(rule.find(' ', 1), rule.size());
    const std::string_view left = rule.substr(0, blank);
    const std::string_view right = rule.substr(std::min(blank + 1, rule.size()));
    joined.assign(left);
    joined += right;
    const BpeMerge merge{ids.find(left), ids.find(right), ids.find(joined)};
    if (merge.left >= 0 && merge.right >= 0 && merge.result >= 0) {
      merges_.push_back(merge);
    } else if (ignored++ == 0) {
      first_ignored = rank;
    }
  }
  if (ignored > 0 && warn) {
    warn(fmt::format(
        "{}: tokenizer.ggml.merges: {} rules name tokens that do not exist and are ignored, the "
        "first of them [{}] '{}'",
        spec.file, ignored, first_ignored, printable((*spec.merges)[first_ignored])));
  }
}

}  // namespace r1::text
