// The neon_dotprod tier's table. Whatever has no byte dot in it is the neon tier's.
#include "kernels/api/table.hpp"

#include "kernels/generic/encode.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/neon_dotprod/isa.hpp"

namespace r1::kernels {

namespace neon {
extern const MatrixSet<PlainFormats::kCount> plain_matrices;
extern const FloatKernels float_kernels;
}  // namespace neon

namespace neon_dotprod {

// Each is defined in an object of its own.
extern const MatrixSet<BlockFormats::kCount> block_matrices;
extern const MatrixSet<SuperFormats::kCount> super_matrices;
extern const MatrixSet<TableFormats::kCount> table_matrices;
extern const ProbeKernels probes;

extern const KernelTable table;
constexpr KernelTable table =
    make_table(IsaTier::neon_dotprod, encode_f32<Isa>, encode_q8<Isa>, neon::float_kernels, probes,
               neon::plain_matrices, block_matrices, super_matrices, table_matrices);

}  // namespace neon_dotprod
}  // namespace r1::kernels
