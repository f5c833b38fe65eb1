// Matrix kernels of the neon tier for formats whose codes index a table.
#include "kernels/generic/matmul_q8.hpp"
#include "kernels/generic/matrix_set.hpp"
#include "kernels/isa/neon/isa.hpp"

namespace r1::kernels::neon {
namespace {

template <class Format>
struct Kernel {
  static void run(const MatmulArgs& args) noexcept { matmul_q8<Isa, Format>(args); }
};

}  // namespace

extern const MatrixSet<TableFormats::kCount> table_matrices;
constexpr MatrixSet<TableFormats::kCount> table_matrices = make_matrix_set<Kernel>(TableFormats{});

}  // namespace r1::kernels::neon
