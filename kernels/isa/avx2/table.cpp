// The avx2 tier's table and its activation encoders.
#include "kernels/api/table.hpp"

#include "kernels/generic/encode.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/avx2/isa.hpp"

namespace r1::kernels::avx2 {

// Each is defined in an object of its own.
extern const MatrixSet<PlainFormats::kCount> plain_matrices;
extern const MatrixSet<BlockFormats::kCount> block_matrices;
extern const MatrixSet<SuperFormats::kCount> super_matrices;
extern const MatrixSet<TableFormats::kCount> table_matrices;
extern const FloatKernels float_kernels;
extern const ProbeKernels probes;

extern const KernelTable table;
constexpr KernelTable table =
    make_table(IsaTier::avx2, encode_f32<Isa>, encode_q8<Isa>, float_kernels, probes,
               plain_matrices, block_matrices, super_matrices, table_matrices);

}  // namespace r1::kernels::avx2
