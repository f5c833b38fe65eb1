// Loops that find out what a core can do with a tier's instructions: the limits that the other
// kernels are held against. They compute nothing of use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace r1::kernels {

/// A loop of independent multiply-adds that lie in registers, so that nothing but the execution
/// units limits it.
struct MultiplyProbe {
  /// Runs `rounds` rounds; null when the tier has no such instruction. noexcept, any thread.
  void (*run)(std::int64_t rounds) noexcept;
  std::int64_t macs;  ///< multiply-adds of one round
  /// Whether this CPU has the instruction, which is not one of the tier's own; null: every CPU of
  /// the tier has it.
  bool (*available)() noexcept;
};

/// The probes of one tier.
struct ProbeKernels {
  /// The instruction that multiplies bytes, alone, without what else a product takes: vpdpbusd
  /// with VNNI, (v)pmaddubsw without.
  MultiplyProbe bytes;
  MultiplyProbe floats;  ///< float32 fma; a multiplication and an addition where there is none
  MultiplyProbe bf16;    ///< dot product of bfloat16 pairs into float32
  /// Reads [data, data + bytes) once and in order with software prefetch; returns a checksum, so
  /// that no load is left out. data: 64-byte aligned; bytes: a multiple of 512.
  std::uint64_t (*read)(const std::byte* data, std::int64_t bytes) noexcept;
};

}  // namespace r1::kernels
