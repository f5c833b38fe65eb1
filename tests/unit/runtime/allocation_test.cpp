// A warm decode step takes nothing from the heap: every operator new of this program is counted
// while steps run, on all threads of the team.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <new>

#include "libr1/engine/settings.hpp"
#include "libr1/runtime/forward.hpp"
#include "libr1/sampling/chain.hpp"
#include "tests/support/random_model.hpp"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  const std::size_t least = std::max(alignment, sizeof(void*));
  return posix_memalign(&memory, least, std::max<std::size_t>(bytes, 1)) == 0 ? memory : nullptr;
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = counted(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// All forms that delete below gives back: a sanitizer brings its own of those that are left out.
void* operator new(std::size_t bytes) { return counted_or_throw(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace r1;

}  // namespace

TEST_CASE("a warm decode step allocates nothing, sampling included") {
  constexpr std::int64_t kSteps = 40;  // over page borders
  const auto image = support::random_model({.type = kernels::WeightType::q4_k});
  const Model model = Model::load(image);
  for (const int threads : {1, 2}) {
    for (const std::size_t sequences : {1, 3}) {
      INFO(threads << " threads, " << sequences << " sequences");
      base::ThreadTeam team(threads);
      runtime::KvPool pool(runtime::KvLayout::make(model.impl().config, kernels::KvType::f16), 64);
      runtime::Forward forward(model.impl(), *engine::choose_table(""), team, kernels::KvType::f16,
                               8, 256);
      const auto vocab = static_cast<std::size_t>(model.impl().config.vocab);
      std::vector<std::unique_ptr<runtime::KvSequence>> kv;
      std::vector<sampling::Chain> chains;
      std::vector<std::vector<TokenId>> history(sequences, {1});
      for (auto& tokens : history) {
        tokens.reserve(256);
        kv.push_back(std::make_unique<runtime::KvSequence>(pool));
        kv.back()->expect(256);
        chains.emplace_back(
            sampling::make_params({.temperature = 0.8F, .repeat_penalty = 1.1F, .seed = 3},
                                  model.impl().config.vocab),
            model.impl().samplable);
      }
      std::vector<runtime::SequenceStep> steps(sequences);
      const auto decode = [&] {
        for (std::size_t i = 0; i < sequences; ++i) {
          const auto position = static_cast<std::int64_t>(history[i].size()) - 1;
          if (!kv[i]->reserve(position + 1)) throw std::bad_alloc();
          steps[i] = {std::span(history[i]).last(1), position, kv[i].get()};
        }
        std::span<const float> logits = forward.step(steps);
        for (std::size_t i = 0; i < sequences; ++i, logits = logits.subspan(vocab)) {
          kv[i]->computed(steps[i].tokens);
          history[i].push_back(chains[i].choose(logits.first(vocab), history[i]).id);
        }
      };
      decode();
      const std::int64_t before = allocations.load();
      for (std::int64_t step = 0; step < kSteps; ++step) decode();
      CHECK(allocations.load() == before);
    }
  }
  const std::int64_t before = allocations.load();
  const auto something = std::make_unique<int>(1);
  CHECK(*something == 1);
  CHECK(allocations.load() == before + 1);
}
