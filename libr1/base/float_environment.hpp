// The floating-point environment of the threads that compute: same bits on every thread, whatever
// the host program did to its own threads (audio and game code often switches on flush-to-zero).
#pragma once

#include <cstdint>

namespace r1::base {

/// Round to nearest, subnormals kept, no traps: what a new process starts with. For threads that r1
/// owns.
void set_default_float_environment() noexcept;

/// The same for a stretch of code on a thread of the caller's: the constructor sets, the destructor
/// puts back what was there. Costs a register read when nothing has to change.
class FloatEnvironmentScope {
 public:
  FloatEnvironmentScope() noexcept;
  ~FloatEnvironmentScope();
  FloatEnvironmentScope(const FloatEnvironmentScope&) = delete;
  FloatEnvironmentScope& operator=(const FloatEnvironmentScope&) = delete;

 private:
  std::uint64_t saved_;
  bool changed_;
};

}  // namespace r1::base
