// Builds the kernel entries of a family of formats for one tier, and a tier's table from the
// families.
#pragma once

#include "kernels/api/table.hpp"
#include "kernels/formats/decode_row.hpp"
#include "kernels/formats/list.hpp"

namespace r1::kernels {

/// Entries of neighbouring weight types; what one object of a tier exports.
template <int kCount>
struct MatrixSet {
  MatrixKernels entries[kCount];
};

namespace {

/// Matmul<Isa, Format>::run and the shared decoder, for each format of a list.
template <template <class> class Matmul, class... Formats>
constexpr MatrixSet<sizeof...(Formats)> make_matrix_set(FormatList<Formats...>) {
  return {{{Matmul<Formats>::run, decode_packed_row<Formats::kType>}...}};
}

template <int kCount>
constexpr void add_entries(KernelTable& table, int& next, const MatrixSet<kCount>& set) {
  for (int i = 0; i < kCount; ++i) table.matrix[next++] = &set.entries[i];
}

/// A tier's table. The sets come in the order of WeightType.
template <class... Sets>
constexpr KernelTable make_table(IsaTier tier, EncodeFn encode_as_f32, EncodeFn encode_as_q8,
                                 const FloatKernels& floats, const ProbeKernels& probes,
                                 const Sets&... sets) {
  KernelTable table{};
  table.tier = tier;
  table.encode[static_cast<int>(ActivationEncoding::f32)] = encode_as_f32;
  table.encode[static_cast<int>(ActivationEncoding::q8)] = encode_as_q8;
  table.floats = &floats;
  table.probes = &probes;
  int next = 0;
  (add_entries(table, next, sets), ...);
  return table;
}

}  // namespace
}  // namespace r1::kernels
