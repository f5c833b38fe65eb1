// Random lives of sequences in tiny pools. What is written for a position is a function of the key
// and of all tokens up to it, so whatever is shared wrongly shows as wrong content (case K4).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "libr1/runtime/kv_sequence.hpp"

using namespace r1;
using namespace r1::runtime;

namespace {

const KvLayout kLayout{kernels::KvType::f16, 1, 1, 16};
constexpr std::uint64_t kBroken = 0xbad;
constexpr std::size_t kKeys = 2;
constexpr std::size_t kSequencesMax = 6;

using Tokens = std::vector<TokenId>;

/// What a position holds: two multiply-and-add hashes of 32 bits of all before it.
std::uint64_t next_content(std::uint64_t before, TokenId token) {
  const auto low = static_cast<std::uint32_t>(before) * 69069U + static_cast<std::uint32_t>(token);
  const auto high =
      static_cast<std::uint32_t>(before >> 32) * 1664525U + static_cast<std::uint32_t>(token) + 3U;
  return std::uint64_t{high} << 32 | low;
}

std::vector<std::uint64_t> contents(std::uint64_t key, const Tokens& tokens) {
  std::vector<std::uint64_t> all;
  std::uint64_t content = key + 17;
  for (const TokenId token : tokens) all.push_back(content = next_content(content, token));
  return all;
}

std::uint64_t read(const KvSequence& sequence, std::size_t position) {
  std::uint64_t content = 0;
  std::memcpy(
      &content,
      sequence.page_of(static_cast<std::int64_t>(position)) + position % 16 * sizeof(content),
      sizeof(content));
  return content;
}

void write(const KvSequence& sequence, std::size_t position, std::uint64_t content) {
  std::memcpy(
      sequence.page_of(static_cast<std::int64_t>(position)) + position % 16 * sizeof(content),
      &content, sizeof(content));
}

std::size_t common(const Tokens& a, const Tokens& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::uint64_t zero(std::uint64_t, std::uint64_t, std::span<const TokenId>) { return 0; }
std::uint64_t two_bits(std::uint64_t parent, std::uint64_t key, std::span<const TokenId> tokens) {
  return PrefixIndex::mix(parent, key, tokens) & 3;
}

/// A sequence and what the model knows of it.
struct Life {
  Life(KvPool& pool, std::uint64_t its_key) : key(its_key), sequence(pool, its_key) {}
  Life(std::uint64_t its_key, KvSequence its_sequence)
      : key(its_key), sequence(std::move(its_sequence)) {}

  std::uint64_t key;
  KvSequence sequence;
  Tokens tokens;          ///< what its tokens should be
  bool published = true;  ///< all of them can be found by others
  bool behind_broken = false;
};

class World {
 public:
  World(unsigned seed, std::int64_t pages, const KvPoolOptions& options)
      : random_(seed), capacity_(pages), pool_(kLayout, pages, options) {}

  void step() {
    const std::size_t choice = draw(20);
    if (lives_.empty() || (choice == 0 && lives_.size() < kSequencesMax)) {
      lives_.push_back(std::make_unique<Life>(pool_, draw(kKeys)));
    } else if (choice == 1) {
      lives_.erase(lives_.begin() + static_cast<std::ptrdiff_t>(draw(lives_.size())));
    } else if (choice == 2 && lives_.size() < kSequencesMax) {
      fork(*any());
    } else if (choice == 3) {
      break_one(*any());
    } else if (choice <= 5) {
      truncate(*any());
    } else if (choice <= 11) {
      attach(*any());
    } else {
      compute(*any());
    }
    check();
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }
  Life* any() { return lives_[draw(lives_.size())].get(); }

  /// The beginning of something known and a few tokens more.
  Tokens make_prompt() {
    Tokens prompt;
    if (!texts_.empty() && draw(8) > 0) prompt = texts_[draw(texts_.size())];
    prompt.resize(draw(prompt.size() + 1));
    const std::size_t more = 1 + draw(24);
    const std::size_t variety = 1 + draw(2);
    for (std::size_t i = 0; i < more; ++i) prompt.push_back(static_cast<TokenId>(draw(variety)));
    return prompt;
  }

  void attach(Life& life) {
    const Tokens prompt = make_prompt();
    const auto found = static_cast<std::size_t>(life.sequence.attach(prompt));
    const std::size_t own = std::min(common(life.tokens, prompt), prompt.size() - 1);
    REQUIRE(found < prompt.size());
    REQUIRE(found >= own);
    // Not more than was ever computed under the key, not less than what runs now.
    const auto wanted = contents(life.key, prompt);
    REQUIRE(std::all_of(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(found),
                        [&](std::uint64_t content) { return computed_.contains(content); }));
    for (const auto& other : lives_) {
      if (other.get() == &life || other->key != life.key || other->behind_broken) continue;
      if (life.behind_broken) continue;
      std::size_t same = std::min(common(other->tokens, prompt), prompt.size() - 1);
      if (!other->published) same -= same % 16;
      REQUIRE(found >= same);
    }
    life.tokens.assign(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(found));
    if (found > own) life.published = true;
  }

  /// Room for `more` positions; says whether they were to be had, as they should.
  bool reserve(Life& life, std::size_t more) {
    const auto count = static_cast<std::int64_t>(life.tokens.size() + more);
    const KvStatistics before = pool_.statistics();
    const std::int64_t wanted = life.sequence.pages_wanted(count);
    const bool done = life.sequence.reserve(count);
    REQUIRE(done == (wanted <= before.free + before.cached));
    if (lives_.size() == 1) REQUIRE(done == (count <= capacity_ * 16));
    if (!done) return false;
    life.published = false;
    for (std::int64_t at = static_cast<std::int64_t>(life.tokens.size()); at < count; ++at) {
      for (const auto& other : lives_) {
        if (other.get() == &life) continue;
        const auto* pages = other->sequence.pages();
        REQUIRE(std::find(pages, pages + other->sequence.pages_held(), life.sequence.page_of(at)) ==
                pages + other->sequence.pages_held());
      }
    }
    return true;
  }

  /// A step whose last tokens may be rejected, with an attachment of another in between.
  void compute(Life& life) {
    Tokens more(1 + draw(draw(3) == 0 ? 40 : 4));
    const std::size_t variety = 1 + draw(2);
    for (TokenId& token : more) token = static_cast<TokenId>(draw(variety));
    if (!reserve(life, more.size())) return;
    if (draw(4) == 0 && lives_.size() > 1) {
      Life* other = any();
      if (other != &life) attach(*other);
    }
    const std::size_t accepted = draw(4) == 0 ? draw(more.size() + 1) : more.size();
    const std::size_t begin = life.tokens.size();
    life.tokens.insert(life.tokens.end(), more.begin(), more.end());
    const auto content = contents(life.key, life.tokens);
    for (std::size_t i = begin; i < begin + accepted; ++i) computed_.insert(content[i]);
    for (std::size_t i = begin; i < life.tokens.size(); ++i) {
      write(life.sequence, i, i < begin + accepted ? content[i] : kBroken);
    }
    life.tokens.resize(begin + accepted);
    life.sequence.computed(std::span(more).first(accepted));
    if (accepted > 0) life.published = true;
    texts_.push_back(life.tokens);
  }

  void break_one(Life& life) {
    if (!reserve(life, 20)) return;
    for (std::size_t i = 0; i < 20; ++i) write(life.sequence, life.tokens.size() + i, kBroken);
    life.sequence.computed(Tokens(20, 0));
    life.sequence.forget();
    // Equal pages may have become one, so whoever begins alike may hold what is forgotten.
    life.tokens.resize(life.tokens.size() + 20, 0);
    for (const auto& other : lives_) {
      if (other->key == life.key && common(other->tokens, life.tokens) > 0) {
        other->behind_broken = true;
      }
    }
    life.tokens.clear();
    life.published = true;
    life.behind_broken = false;
  }

  void truncate(Life& life) {
    life.tokens.resize(draw(life.tokens.size() + 1));
    life.sequence.truncate(static_cast<std::int64_t>(life.tokens.size()));
  }

  void fork(Life& life) {
    auto other = std::make_unique<Life>(life.key, life.sequence.fork());
    other->tokens = life.tokens;
    other->published = life.published;
    other->behind_broken = life.behind_broken;
    lives_.push_back(std::move(other));
  }

  void check() {
    std::map<const std::byte*, int> holders;
    std::int64_t held = 0;
    for (const auto& life : lives_) {
      REQUIRE(life->sequence.tokens() == life->tokens);
      const auto content = contents(life->key, life->tokens);
      std::size_t right = 0;
      while (right < content.size() && read(life->sequence, right) == content[right]) ++right;
      REQUIRE(right == content.size());
      held += life->sequence.pages_held();
      for (std::int64_t i = 0; i < life->sequence.pages_held(); ++i) {
        ++holders[life->sequence.pages()[i]];
      }
    }
    const auto used = static_cast<std::int64_t>(holders.size());
    const KvStatistics statistics = pool_.statistics();
    REQUIRE(statistics.free + statistics.used + statistics.cached == capacity_);
    REQUIRE(statistics.free >= 0);
    REQUIRE(statistics.used == used);
    REQUIRE(statistics.shared == std::count_if(holders.begin(), holders.end(),
                                               [](const auto& entry) { return entry.second > 1; }));
    REQUIRE(statistics.bytes_saved == (held - used) * kLayout.page_bytes());
  }

  std::mt19937 random_;
  std::int64_t capacity_;
  KvPool pool_;
  std::vector<std::unique_ptr<Life>> lives_;
  std::vector<Tokens> texts_;         ///< beginnings that prompts are made of
  std::set<std::uint64_t> computed_;  ///< what was ever written in earnest
};

}  // namespace

TEST_CASE("no life of sequences in a tiny pool mixes two of them up (K4)") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    KvPoolOptions options;
    options.hash = std::array{&PrefixIndex::mix, &two_bits, &zero}[seed % 3];
    if (seed % 4 == 3) options.cached_max = seed % 5;
    const std::int64_t pages = std::array{4, 9, 20, 200}[seed / 3 % 4];
    World world(seed, pages, options);
    for (int step = 0; step < 400; ++step) {
      INFO("seed " << seed << " step " << step);
      world.step();
    }
  }
}
