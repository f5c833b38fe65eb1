// The avx_vnni tier's table. Whatever has no byte dot in it is the avx2 tier's.
#include "kernels/api/table.hpp"

#include "kernels/generic/encode.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/avx_vnni/isa.hpp"

namespace r1::kernels {

namespace avx2 {
extern const MatrixSet<PlainFormats::kCount> plain_matrices;
extern const FloatKernels float_kernels;
}  // namespace avx2

namespace avx_vnni {

// Each is defined in an object of its own.
extern const MatrixSet<BlockFormats::kCount> block_matrices;
extern const MatrixSet<SuperFormats::kCount> super_matrices;
extern const MatrixSet<TableFormats::kCount> table_matrices;
extern const ProbeKernels probes;

extern const KernelTable table;
constexpr KernelTable table =
    make_table(IsaTier::avx_vnni, encode_f32<Isa>, encode_q8<Isa>, avx2::float_kernels, probes,
               avx2::plain_matrices, block_matrices, super_matrices, table_matrices);

}  // namespace avx_vnni
}  // namespace r1::kernels
