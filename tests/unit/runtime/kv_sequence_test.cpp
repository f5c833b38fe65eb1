// Sequences on shared pages, one property at a time; kv_sequence_random_test.cpp has all of them at
// once.
#include "libr1/runtime/kv_sequence.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

using namespace r1;
using namespace r1::runtime;

namespace {

const KvLayout kLayout{kernels::KvType::f16, 1, 1, 16};

using Tokens = std::vector<TokenId>;

Tokens counting(std::size_t count, TokenId first = 0) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

/// Computes what of `prompt` is not there yet; the tokens that were there.
std::int64_t run(KvSequence& sequence, const Tokens& prompt) {
  const std::int64_t known = sequence.attach(prompt);
  REQUIRE(sequence.reserve(static_cast<std::int64_t>(prompt.size())));
  sequence.computed(std::span(prompt).subspan(static_cast<std::size_t>(known)));
  return known;
}

}  // namespace

TEST_CASE("a sequence holds the pages of its positions and returns them") {
  KvPool pool(kLayout, 4);
  const auto used = [&] { return pool.statistics().used; };
  {
    KvSequence sequence(pool);
    CHECK(sequence.reserve(16));
    CHECK(used() == 1);
    CHECK(sequence.reserve(17));
    CHECK(used() == 2);
    CHECK(sequence.pages_held() == 2);
    CHECK(sequence.page_of(15) == sequence.pages()[0]);
    CHECK(sequence.page_of(16) == sequence.pages()[1]);
    CHECK(sequence.pages_wanted(65) == 3);
    CHECK_FALSE(sequence.reserve(65));
    CHECK(used() == 2);
    CHECK(sequence.reserve(64));
    sequence.truncate(17);
    CHECK(used() == 2);
    sequence.truncate(16);
    CHECK(used() == 1);
    sequence.truncate(0);
    CHECK(used() == 0);
    CHECK(sequence.reserve(1));
  }
  CHECK(used() == 0);
  CHECK(pool.statistics().cached == 0);
}

TEST_CASE("a second prompt finds all that it begins with, but never itself whole (K4)") {
  const TokenId other = -1;
  for (const std::size_t length : {1, 15, 16, 17, 31, 32, 33}) {
    for (const std::size_t second : {1, 15, 16, 17, 31, 32, 33, 48}) {
      for (std::size_t same = 0; same <= std::min(length, second); ++same) {
        for (const bool running : {false, true}) {
          INFO(length << " tokens, then " << second << " of which " << same << " the same");
          KvPool pool(kLayout, 16);
          auto first = std::make_unique<KvSequence>(pool);
          CHECK(run(*first, counting(length)) == 0);
          if (!running) first.reset();
          Tokens prompt = counting(second);
          if (same < second) prompt[same] = other;
          KvSequence sequence(pool);
          const auto expected = static_cast<std::int64_t>(std::min(same, second - 1));
          CHECK(run(sequence, prompt) == expected);
          CHECK(sequence.tokens() == prompt);
          CHECK(pool.statistics().tokens_reused == expected);
        }
      }
    }
  }
}

TEST_CASE("two running sequences share the pages of their system prompt") {
  KvPool pool(kLayout, 32);
  KvSequence first(pool);
  KvSequence second(pool);
  Tokens one = counting(40);
  Tokens two = one;
  one.resize(100, 7);
  two.resize(70, 8);
  run(first, one);
  CHECK(run(second, two) == 40);
  const KvStatistics statistics = pool.statistics();
  CHECK(statistics.used == 7 + 5 - 2);
  CHECK(statistics.shared == 2);
  CHECK(statistics.bytes_saved == 2 * kLayout.page_bytes());
  CHECK(first.page_of(31) == second.page_of(31));
  CHECK(first.page_of(32) != second.page_of(32));
}

TEST_CASE("equal sequences that run side by side end on the same pages") {
  KvPool pool(kLayout, 32);
  std::vector<KvSequence> sequences;
  const Tokens prompt = counting(50);
  for (int i = 0; i < 3; ++i) {
    CHECK(sequences.emplace_back(pool).attach(prompt) == 0);
    REQUIRE(sequences.back().reserve(50));
  }
  CHECK(pool.statistics().used == 3 * 4);
  for (KvSequence& sequence : sequences) sequence.computed(prompt);
  CHECK(pool.statistics().used == 3 + 3);
  CHECK(sequences[0].pages()[2] == sequences[2].pages()[2]);
}

TEST_CASE("what one key computed is nothing to another (K4)") {
  KvPool pool(kLayout, 32);
  KvSequence first(pool, 1);
  run(first, counting(40));
  KvSequence other(pool, 2);
  CHECK(run(other, counting(40)) == 0);
  CHECK(pool.statistics().shared == 0);
  CHECK(KvSequence(pool, 1).attach(counting(40)) == 39);
  CHECK(KvSequence(pool, 2).attach(counting(40)) == 39);
  CHECK(KvSequence(pool, 3).attach(counting(40)) == 0);
}

TEST_CASE("a fork shares everything until one of the two writes") {
  KvPool pool(kLayout, 32);
  KvSequence parent(pool);
  run(parent, counting(20));
  std::vector<KvSequence> forks;
  for (int i = 0; i < 4; ++i) forks.push_back(parent.fork());
  CHECK(pool.statistics().used == 2);
  CHECK(pool.statistics().bytes_saved == 4 * 2 * kLayout.page_bytes());
  std::byte& mark = parent.page_of(19)[kLayout.page_bytes() - 1];
  mark = std::byte{42};
  for (TokenId i = 0; i < 4; ++i) {
    KvSequence& fork = forks[static_cast<std::size_t>(i)];
    CHECK(fork.tokens() == parent.tokens());
    CHECK(fork.pages_wanted(21) == 1);
    REQUIRE(fork.reserve(21));
    CHECK(fork.page_of(0) == parent.page_of(0));
    CHECK(fork.page_of(19) != parent.page_of(19));
    CHECK(fork.page_of(19)[kLayout.page_bytes() - 1] == std::byte{42});
    fork.computed(std::span(&i, 1));
  }
  // The last holder has no need of a copy.
  const std::byte* const before = parent.page_of(19);
  CHECK(parent.pages_wanted(21) == 0);
  REQUIRE(parent.reserve(21));
  CHECK(parent.page_of(19) == before);
  CHECK(pool.statistics().used == 1 + 5);
}

TEST_CASE("a sequence that is cut and goes on leaves its old end to others") {
  KvPool pool(kLayout, 8);
  KvSequence sequence(pool);
  run(sequence, counting(30));
  Tokens edited = counting(20);
  edited.resize(40, -1);
  CHECK(run(sequence, edited) == 20);
  CHECK(KvSequence(pool).attach(counting(31)) == 30);
  CHECK(KvSequence(pool).attach(edited) == 39);
}

TEST_CASE("one sequence can always have the whole pool, whatever it shares with the past") {
  KvPool pool(kLayout, 3);
  for (const std::size_t length : {48, 47, 33, 32, 17, 16, 48}) {
    for (const std::size_t same : {0, 5, 16, 20, 40}) {
      Tokens prompt = counting(length);
      for (std::size_t i = same; i < length; ++i) prompt[i] = -1;
      KvSequence sequence(pool);
      run(sequence, prompt);
      REQUIRE(sequence.reserve(48));
    }
  }
}

TEST_CASE("what is forgotten serves nobody") {
  KvPool pool(kLayout, 8);
  KvSequence broken(pool);
  run(broken, counting(40));
  KvSequence behind(pool);
  run(behind, counting(70));
  broken.forget();
  CHECK(broken.tokens().empty());
  CHECK(broken.pages_held() == 0);
  CHECK(KvSequence(pool).attach(counting(70)) == 0);
  // What stands behind broken pages is no better.
  KvSequence fresh(pool);
  CHECK(run(fresh, counting(33)) == 0);
  CHECK(KvSequence(pool).attach(counting(70)) == 33);
  CHECK(behind.attach(counting(71)) == 70);
}

TEST_CASE("sequences move with their pages") {
  KvPool pool(kLayout, 8);
  KvSequence first(pool);
  run(first, counting(40));
  KvSequence second(pool);
  run(second, counting(20, 100));
  CHECK(pool.statistics().used == 5);
  second = std::move(first);
  CHECK(second.tokens() == counting(40));
  CHECK(pool.statistics().used == 3);
  const KvSequence third(std::move(second));
  CHECK(third.tokens() == counting(40));
  CHECK(pool.statistics().used == 3);
}

TEST_CASE("sequences end on one thread while others begin on another") {
  KvPool pool(kLayout, 24);
  std::mutex mutex;
  std::vector<KvSequence> ended;
  bool over = false;
  bool adds_up = true;  // read after the thread's end
  std::thread other([&] {
    for (bool last = false; !last;) {
      std::vector<KvSequence> gone;
      {
        const std::scoped_lock lock(mutex);
        gone.swap(ended);
        last = over;
      }
      gone.clear();
      const KvStatistics seen = pool.statistics();
      adds_up = adds_up && seen.free + seen.used + seen.cached == seen.capacity;
      std::this_thread::yield();
    }
  });
  std::int64_t begun = 0;
  while (begun < 2000) {
    KvSequence sequence(pool);
    Tokens prompt = counting(10 + static_cast<std::size_t>(begun % 50));
    prompt.resize(prompt.size() + 20, static_cast<TokenId>(-begun % 7));
    const std::int64_t known = sequence.attach(prompt);
    if (sequence.reserve(static_cast<std::int64_t>(prompt.size()))) {
      sequence.computed(std::span(prompt).subspan(static_cast<std::size_t>(known)));
      ++begun;
    }
    const std::scoped_lock lock(mutex);
    ended.push_back(std::move(sequence));
  }
  {
    const std::scoped_lock lock(mutex);
    over = true;
  }
  other.join();
  ended.clear();
  CHECK(adds_up);
  CHECK(pool.statistics().used == 0);
  CHECK(pool.statistics().cached > 0);
}
