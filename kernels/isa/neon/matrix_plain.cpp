// Matrix kernels of the neon tier for weights that are floats in the file.
#include "kernels/generic/matmul_float.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/neon/isa.hpp"

namespace r1::kernels::neon {
namespace {

template <class Format>
struct Kernel {
  static void run(const MatmulArgs& args) noexcept { matmul_float<Isa, Format>(args); }
};

}  // namespace

extern const MatrixSet<PlainFormats::kCount> plain_matrices;
constexpr MatrixSet<PlainFormats::kCount> plain_matrices = make_matrix_set<Kernel>(PlainFormats{});

}  // namespace r1::kernels::neon
