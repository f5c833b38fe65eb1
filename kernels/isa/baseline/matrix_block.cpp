// Matrix kernels of the baseline tier for formats with one f16 scale a block.
#include "kernels/generic/matmul_q8.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/baseline/isa.hpp"

namespace r1::kernels::baseline {
namespace {

template <class Format>
struct Kernel {
  static void run(const MatmulArgs& args) noexcept { matmul_q8<Isa, Format>(args); }
};

}  // namespace

extern const MatrixSet<BlockFormats::kCount> block_matrices;
constexpr MatrixSet<BlockFormats::kCount> block_matrices = make_matrix_set<Kernel>(BlockFormats{});

}  // namespace r1::kernels::baseline
