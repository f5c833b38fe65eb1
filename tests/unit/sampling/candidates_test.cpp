// Prefixes of candidates in order, against a full sort.
#include "libr1/sampling/candidates.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

using r1::TokenId;
using r1::sampling::Candidate;
using r1::sampling::Candidates;

namespace {

constexpr std::size_t kCapacity = 5000;

/// Logits of one shape: 0 spread out, 1 a few distinct values, 2 all equal, 3 one far above the
/// rest.
float logit_of(std::mt19937_64& random, int shape) {
  const float normal = std::normal_distribution<float>(0, 3)(random);
  switch (shape) {
    case 0:
      return normal;
    case 1:
      return std::round(normal);
    case 2:
      return 1.5F;
    default:
      return random() % 1000 == 0 ? 1e6F : normal * 1e-3F;
  }
}

/// Fills `candidates` and returns the same in order.
std::vector<Candidate> fill(Candidates& candidates, std::mt19937_64& random, std::size_t count,
                            int shape) {
  std::vector<Candidate> all;
  candidates.clear();
  TokenId id = 0;
  for (std::size_t i = 0; i < count; ++i) {
    id += static_cast<TokenId>(1 + random() % 3);
    all.push_back({logit_of(random, shape), id, 0});
    candidates.add(all.back().logit, id);
  }
  const float top = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                      return a.logit < b.logit;
                    })->logit;
  for (std::size_t i = 0; i < count; ++i) {
    all[i].mass = static_cast<std::uint64_t>(std::exp(double{all[i].logit} - double{top}) * 1e12);
    candidates.added()[i].mass = all[i].mass;
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  return all;
}

std::uint64_t total(const std::vector<Candidate>& all) {
  std::uint64_t mass = 0;
  for (const Candidate& candidate : all) mass += candidate.mass;
  return mass;
}

/// Length of the shortest prefix of `sorted` with this mass, or 0.
std::size_t naive_prefix(const std::vector<Candidate>& sorted, std::uint64_t mass) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i].mass;
    if (sum >= mass) return i + 1;
  }
  return 0;
}

/// Asks for prefixes of many masses.
void check_prefixes(Candidates& candidates, const std::vector<Candidate>& sorted,
                    std::mt19937_64& random) {
  const std::uint64_t all = total(sorted);
  REQUIRE(candidates.size() == sorted.size());
  REQUIRE(candidates.mass() == all);
  for (const double part : {0.5, 0.95, 1.0, 0.0, 0.999, 0.1}) {
    const auto mass = static_cast<std::uint64_t>(part * static_cast<double>(all));
    for (const std::uint64_t asked : {mass, mass + random() % 1000}) {
      const std::size_t expected = naive_prefix(sorted, asked);
      REQUIRE(candidates.prefix(asked) == expected);
      if (expected > 0) REQUIRE(candidates.last_of(expected) == sorted[expected - 1].id);
    }
  }
  REQUIRE(candidates.prefix(all + 1) == 0);
}

constexpr std::size_t kCounts[] = {1, 2, 255, 256, 257, 1000, kCapacity};

}  // namespace

TEST_CASE("candidates: prefixes by mass") {
  std::mt19937_64 random(1);
  Candidates candidates(kCapacity);
  for (int shape = 0; shape < 4; ++shape) {
    for (const std::size_t count : kCounts) {
      INFO("shape " << shape << " count " << count);
      const auto sorted = fill(candidates, random, count, shape);
      check_prefixes(candidates, sorted, random);
    }
  }
}

TEST_CASE("candidates: what is kept is a prefix, and questions go on") {
  std::mt19937_64 random(2);
  Candidates candidates(kCapacity);
  for (int shape = 0; shape < 4; ++shape) {
    for (const std::size_t count : kCounts) {
      for (const double part : {0.01, 0.6, 0.95, 1.0}) {
        INFO("shape " << shape << " count " << count << " part " << part);
        auto sorted = fill(candidates, random, count, shape);
        const auto mass = static_cast<std::uint64_t>(part * static_cast<double>(total(sorted)));
        const std::size_t kept = candidates.prefix(mass);
        REQUIRE(kept == naive_prefix(sorted, mass));
        candidates.keep_prefix(kept);
        sorted.resize(kept);
        check_prefixes(candidates, sorted, random);
      }
    }
  }
}

TEST_CASE("candidates: the largest, and the heavy ones") {
  std::mt19937_64 random(3);
  Candidates candidates(kCapacity);
  for (int shape = 0; shape < 4; ++shape) {
    for (const std::size_t count : kCounts) {
      INFO("shape " << shape << " count " << count);
      auto sorted = fill(candidates, random, count, shape);
      candidates.keep_top(count + 1);
      const std::size_t kept = (count + 1) / 2;
      candidates.keep_top(kept);
      sorted.resize(kept);
      check_prefixes(candidates, sorted, random);

      const auto least = static_cast<double>(sorted[kept / 2].mass);
      const bool some = static_cast<double>(sorted.back().mass) < least;
      CHECK(candidates.keep_heavy(least) == some);
      sorted.erase(std::find_if(sorted.begin(), sorted.end(),
                                [&](const Candidate& candidate) {
                                  return static_cast<double>(candidate.mass) < least;
                                }),
                   sorted.end());
      check_prefixes(candidates, sorted, random);
    }
  }
}
