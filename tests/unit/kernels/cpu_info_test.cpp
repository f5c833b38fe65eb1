// The choice of a tier on made-up machines: register values from Intel's manuals with single bits
// taken away.
#include "kernels/cpu_info.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "kernels/api/isa.hpp"

namespace r1::kernels {
namespace {

constexpr std::uint32_t bit(int n) { return 1U << n; }

/// A machine that has everything, saved by its operating system (XCR0 = x87, SSE, AVX, AVX-512).
CpuSnapshot full_machine() {
  CpuSnapshot cpu;
  cpu.max_leaf = 0x1f;
  cpu.leaf1_ecx = bit(9) | bit(12) | bit(19) | bit(20) | bit(27) | bit(28) | bit(29);
  cpu.leaf7_ebx = bit(5) | bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
  cpu.leaf7_ecx = bit(11);
  cpu.leaf7_1_eax = bit(4);
  cpu.xcr0 = 0xe7;
  return cpu;
}

bool runs(const CpuSnapshot& cpu, IsaTier tier) { return runs_tier(usable_features(cpu), tier); }

/// "b", "ba", "ban", "banv": which tiers run (n: avx_vnni).
std::string tiers(const CpuSnapshot& cpu) {
  std::string out;
  if (runs(cpu, IsaTier::baseline)) out += 'b';
  if (runs(cpu, IsaTier::avx2)) out += 'a';
  if (runs(cpu, IsaTier::avx_vnni)) out += 'n';
  if (runs(cpu, IsaTier::avx512_vnni)) out += 'v';
  return out;
}

}  // namespace

TEST_CASE("a full machine runs every tier", "[cpu_info]") {
  CHECK(tiers(full_machine()) == "banv");
}

TEST_CASE("each instruction set is tested apart", "[cpu_info]") {
  for (const int missing : {12, 28, 29}) {  // FMA, AVX, F16C
    CpuSnapshot cpu = full_machine();
    cpu.leaf1_ecx &= ~bit(missing);
    INFO("leaf 1 ECX bit " << missing);
    CHECK(tiers(cpu) == "b");
  }
  for (const int missing : {9, 19, 20}) {  // SSSE3, SSE4.1, SSE4.2
    CpuSnapshot cpu = full_machine();
    cpu.leaf1_ecx &= ~bit(missing);
    INFO("leaf 1 ECX bit " << missing);
    CHECK(tiers(cpu).empty());
  }
  CpuSnapshot no_avx2 = full_machine();
  no_avx2.leaf7_ebx &= ~bit(5);
  CHECK(tiers(no_avx2) == "b");
  for (const int missing : {16, 17, 28, 30, 31}) {  // AVX-512 F, DQ, CD, BW, VL
    CpuSnapshot cpu = full_machine();
    cpu.leaf7_ebx &= ~bit(missing);
    INFO("leaf 7 EBX bit " << missing);
    CHECK(tiers(cpu) == "ban");
  }
  CpuSnapshot no_avx_vnni = full_machine();
  no_avx_vnni.leaf7_1_eax = 0;
  CHECK(tiers(no_avx_vnni) == "bav");  // Cascade Lake
  CpuSnapshot no_vnni = full_machine();
  no_vnni.leaf7_ecx = 0;
  CHECK(tiers(no_vnni) == "ban");
}

TEST_CASE("registers that the operating system does not save are not used", "[cpu_info]") {
  CpuSnapshot cpu = full_machine();
  cpu.xcr0 = 0;
  CHECK(tiers(cpu) == "b");
  cpu.xcr0 = 0x3;  // x87 and SSE
  CHECK(tiers(cpu) == "b");
  cpu.xcr0 = 0x5;  // AVX without SSE
  CHECK(tiers(cpu) == "b");
  cpu.xcr0 = 0x7;  // AVX
  CHECK(tiers(cpu) == "ban");
  for (const std::uint64_t part : {0x20U, 0x40U, 0x80U}) {  // one of the AVX-512 states is missing
    cpu.xcr0 = 0xe7 & ~part;
    CHECK(tiers(cpu) == "ban");
  }
  // Without OSXSAVE XGETBV may not be executed, whatever CPUID says of AVX.
  cpu = full_machine();
  cpu.leaf1_ecx &= ~bit(27);
  CHECK(tiers(cpu) == "b");
}

TEST_CASE("leaf 7 counts only where it exists", "[cpu_info]") {
  CpuSnapshot cpu = full_machine();
  cpu.max_leaf = 6;
  CHECK(tiers(cpu) == "b");
  CHECK(tiers(CpuSnapshot{}).empty());
}

TEST_CASE("ARM machines run what Linux says they have", "[cpu_info]") {
  CpuSnapshot cpu;
  const std::uint64_t asimd = 1U << 1;  // arch/arm64/include/uapi/asm/hwcap.h
  const std::uint64_t dotprod = 1U << 20;
  cpu.hwcap = ~(asimd | dotprod);
  CHECK(tiers(cpu).empty());
  CHECK_FALSE(runs(cpu, IsaTier::neon_dotprod));
  cpu.hwcap = asimd;
  CHECK(tiers(cpu) == "b");
  CHECK_FALSE(runs(cpu, IsaTier::neon_dotprod));
  cpu.hwcap = asimd | dotprod;
  CHECK(tiers(cpu) == "b");
  CHECK(runs(cpu, IsaTier::neon_dotprod));
  CHECK_FALSE(runs(full_machine(), IsaTier::neon_dotprod));
}

#if defined(__x86_64__) && defined(__GNUC__)
TEST_CASE("this machine's registers agree with the compiler's own test", "[cpu_info]") {
  const CpuFeatures features = usable_features(read_cpu());
  CHECK(features.sse42 == (__builtin_cpu_supports("sse4.2") != 0));
  CHECK(features.avx2 == (__builtin_cpu_supports("avx2") != 0));
  CHECK(features.fma == (__builtin_cpu_supports("fma") != 0));
  CHECK(features.avx512f == (__builtin_cpu_supports("avx512f") != 0));
  CHECK(features.avx512vnni == (__builtin_cpu_supports("avx512vnni") != 0));
}
#endif

}  // namespace r1::kernels
