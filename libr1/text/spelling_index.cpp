// The table is at most half full, so that probing sequences stay short.
#include "libr1/text/spelling_index.hpp"

#include <bit>
#include <functional>

namespace r1::text {
namespace {

std::uint64_t hash_of(std::string_view spelling) {
  return std::uint64_t{std::hash<std::string_view>{}(spelling)};
}

}  // namespace

SpellingIndex::SpellingIndex(std::span<const std::string> spellings,
                             std::span<const TokenKind> kinds)
    : spellings_(spellings), slots_(std::bit_ceil(2 * spellings.size() + 1)) {
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    if (kinds[i] != TokenKind::normal) continue;
    const std::uint64_t hash = hash_of(spellings[i]);
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    Slot& slot = slots_[slot_of(spellings[i], upper, static_cast<std::size_t>(hash))];
    if (slot.id < 0) slot = {upper, static_cast<TokenId>(i)};
  }
}

std::size_t SpellingIndex::slot_of(std::string_view spelling, std::uint32_t upper,
                                   std::size_t start) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = start & mask;
  while (slots_[at].id >= 0 && (slots_[at].upper != upper ||
                                spellings_[static_cast<std::size_t>(slots_[at].id)] != spelling)) {
    at = (at + 1) & mask;
  }
  return at;
}

TokenId SpellingIndex::find(std::string_view spelling) const {
  const std::uint64_t hash = hash_of(spelling);
  return slots_[slot_of(spelling, static_cast<std::uint32_t>(hash >> 32),
                        static_cast<std::size_t>(hash))]
      .id;
}

}  // namespace r1::text
