// The floating-point control register by hand: fegetenv/fesetenv also save the x87 state, which no
// code here uses and which costs more than an empty run() of a thread team.
#include "libr1/base/float_environment.hpp"

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace r1::base {
namespace {

#if defined(__x86_64__)

// Intel SDM vol. 1, 10.2.3: the value of MXCSR after reset (all exceptions masked, round to
// nearest, no FTZ, no DAZ). The low six bits are sticky flags and not part of the mode.
constexpr std::uint64_t kDefaultControl = 0x1F80;
constexpr std::uint64_t kModeMask = 0xFFC0;

std::uint64_t read_control() noexcept { return _mm_getcsr(); }
void write_control(std::uint64_t value) noexcept { _mm_setcsr(static_cast<unsigned>(value)); }

#elif defined(__aarch64__)

// Arm ARM, FPCR: RMode bits 23:22, FZ bit 24, FZ16 bit 19, DN bit 25, trap enables 8-15; zero is
// the default.
constexpr std::uint64_t kDefaultControl = 0;
constexpr std::uint64_t kModeMask = 0x07F79F00;

std::uint64_t read_control() noexcept {
  std::uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" : : "r"(value)); }

#else

constexpr std::uint64_t kDefaultControl = FE_TONEAREST;
constexpr std::uint64_t kModeMask = ~std::uint64_t{0};

std::uint64_t read_control() noexcept { return static_cast<std::uint64_t>(std::fegetround()); }
void write_control(std::uint64_t value) noexcept { std::fesetround(static_cast<int>(value)); }

#endif

}  // namespace

void set_default_float_environment() noexcept { std::fesetenv(FE_DFL_ENV); }

FloatEnvironmentScope::FloatEnvironmentScope() noexcept
    : saved_(read_control()), changed_((saved_ & kModeMask) != kDefaultControl) {
  if (changed_) write_control(kDefaultControl);
}

FloatEnvironmentScope::~FloatEnvironmentScope() {
  if (changed_) write_control(saved_);
}

}  // namespace r1::base
