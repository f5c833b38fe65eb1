// Builds the kernel entries of a family of formats for one tier, and a tier's table from the
// families.
#pragma once

#include "kernels/api/table.hpp"
#include "kernels/formats/list.hpp"

namespace r1::kernels {

/// Entries of a family of formats; what one object of a tier exports.
template <int kCount>
struct MatrixSet {
  MatrixKernels entries[kCount];
};

namespace {

/// Matmul<Format>::run for each format of a list.
template <template <class> class Matmul, class... Formats>
constexpr MatrixSet<sizeof...(Formats)> make_matrix_set(FormatList<Formats...>) {
  return {{{Matmul<Formats>::run}...}};
}

template <class... Formats>
constexpr void add_entries(KernelTable& table, const MatrixSet<sizeof...(Formats)>& set,
                           FormatList<Formats...>) {
  int next = 0;
  ((table.matrix[static_cast<int>(Formats::kType)] = &set.entries[next++]), ...);
}

/// A tier's table.
constexpr KernelTable make_table(IsaTier tier, EncodeFn encode_as_f32, EncodeFn encode_as_q8,
                                 const FloatKernels& floats, const ProbeKernels& probes,
                                 const MatrixSet<PlainFormats::kCount>& plain,
                                 const MatrixSet<BlockFormats::kCount>& block,
                                 const MatrixSet<SuperFormats::kCount>& super,
                                 const MatrixSet<TableFormats::kCount>& table_codes) {
  KernelTable table{};
  table.tier = tier;
  table.encode[static_cast<int>(ActivationEncoding::f32)] = encode_as_f32;
  table.encode[static_cast<int>(ActivationEncoding::q8)] = encode_as_q8;
  table.floats = &floats;
  table.probes = &probes;
  add_entries(table, plain, PlainFormats{});
  add_entries(table, block, BlockFormats{});
  add_entries(table, super, SuperFormats{});
  add_entries(table, table_codes, TableFormats{});
  return table;
}

}  // namespace
}  // namespace r1::kernels
