// Symbols of the word form a linked list; a heap holds every pair that a rule knows. An entry names
// only its rank and its left symbol: it is out of date, and skipped, when the rule's two parts no
// longer stand there. Each merge adds at most two entries, so that the whole is O(n log n) whatever
// the word.
#include "libr1/text/bpe.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace r1::text {
namespace {

std::uint64_t pair_of(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) |
         static_cast<std::uint32_t>(right);
}

}  // namespace

Bpe::Bpe(const std::array<TokenId, 256>& byte_ids, std::vector<BpeMerge> merges)
    : byte_ids_(byte_ids), merges_(std::move(merges)) {
  slots_.resize(std::bit_ceil(merges_.size() * 3 / 2 + 2));
  for (std::size_t rank = 0; rank < merges_.size(); ++rank) {
    const std::uint64_t pair = pair_of(merges_[rank].left, merges_[rank].right);
    slots_[slot_of(pair)] = {pair, static_cast<std::uint32_t>(rank)};
  }
}

std::size_t Bpe::slot_of(std::uint64_t pair) const {
  // Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio (Knuth, TAOCP 3, 6.4).
  const int bits = std::countr_zero(slots_.size());
  std::size_t slot = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15u) >> (64 - bits));
  while (slots_[slot].rank != kNone && slots_[slot].pair != pair)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::uint32_t Bpe::rank_of(TokenId left, TokenId right) const {
  return slots_[slot_of(pair_of(left, right))].rank;
}

void Bpe::push_pair(Scratch& scratch, std::uint32_t left) const {
  const Scratch::Symbol& symbol = scratch.symbols[left];
  if (symbol.next == kNone) return;
  const std::uint32_t rank = rank_of(symbol.id, scratch.symbols[symbol.next].id);
  if (rank != kNone) scratch.heap.push_back((std::uint64_t{rank} << 32) | left);
}

void Bpe::encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& out) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  symbols.clear();
  heap.clear();
  for (const char c : word) {
    const TokenId id = byte_ids_[static_cast<unsigned char>(c)];
    if (id < 0) continue;
    const auto index = static_cast<std::uint32_t>(symbols.size());
    symbols.push_back({index == 0 ? kNone : index - 1, index + 1, id});
  }
  if (symbols.empty()) return;
  symbols.back().next = kNone;

  for (std::uint32_t i = 0; i < symbols.size(); ++i) push_pair(scratch, i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto push_onto_heap = [&](std::uint32_t left) {
    const std::size_t before = heap.size();
    push_pair(scratch, left);
    if (heap.size() > before) std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    const std::uint64_t top = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    const BpeMerge& merge = merges_[static_cast<std::size_t>(top >> 32)];
    const auto left = static_cast<std::uint32_t>(top);
    Scratch::Symbol& symbol = symbols[left];
    if (symbol.id != merge.left || symbol.next == kNone) continue;
    Scratch::Symbol& right = symbols[symbol.next];
    if (right.id != merge.right) continue;
    symbol.id = merge.result;
    symbol.next = right.next;
    right.id = -1;
    if (symbol.next != kNone) symbols[symbol.next].previous = left;
    if (symbol.previous != kNone) push_onto_heap(symbol.previous);
    push_onto_heap(left);
  }
  for (std::uint32_t i = 0; i != kNone; i = symbols[i].next) out.push_back(symbols[i].id);
}

}  // namespace r1::text
