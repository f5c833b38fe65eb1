// The probes of every tier: reading covers each byte once, and what multiplies can be run.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/api/table.hpp"

using namespace r1::kernels;

TEST_CASE("reading sums all words of the range and nothing else", "[kernels][probes]") {
  constexpr std::size_t kStep = 512;
  struct alignas(64) Block {
    std::byte bytes[kStep];
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < kIsaTierCount; ++i) {
    const KernelTable* table = kernel_table(static_cast<IsaTier>(i));
    if (table == nullptr) continue;
    INFO(isa_name(table->tier));
    for (const std::size_t blocks : {0, 1, 2, 3, 64, 1001}) {
      INFO(blocks);
      // Words before and after the range would show in the sum.
      std::vector<Block> data(blocks + 2);
      std::uint64_t expected = 0;
      for (std::size_t b = 0; b < data.size(); ++b) {
        for (std::size_t at = 0; at < kStep; at += sizeof(std::uint64_t)) {
          const std::uint64_t word = random();
          std::memcpy(data[b].bytes + at, &word, sizeof word);
          if (b > 0 && b <= blocks) expected += word;
        }
      }
      CHECK(table->probes->read(data[1].bytes, static_cast<std::int64_t>(blocks * kStep)) ==
            expected);
    }
  }
}

TEST_CASE("every tier multiplies bytes and floats", "[kernels][probes]") {
  for (int i = 0; i < kIsaTierCount; ++i) {
    const KernelTable* table = kernel_table(static_cast<IsaTier>(i));
    if (table == nullptr) continue;
    INFO(isa_name(table->tier));
    for (const MultiplyProbe* probe :
         {&table->probes->bytes, &table->probes->floats, &table->probes->bf16}) {
      if (probe->run == nullptr) {
        CHECK(probe == &table->probes->bf16);
        continue;
      }
      CHECK(probe->macs > 0);
      if (probe->available == nullptr || probe->available()) probe->run(3);
    }
    // A register holds four times as many bytes as floats.
    CHECK(table->probes->bytes.macs >= table->probes->floats.macs);
  }
}
