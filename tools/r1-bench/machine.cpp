// One row a limit, in base units.
#include "tools/r1-bench/machine.hpp"

namespace r1_tools {

r1::Limits measure_machine(r1::LimitOptions options, std::string_view label, StatusLine& status) {
  options.on_progress = [&status](double fraction) { status.progress(fraction); };
  status.begin(label);
  r1::Limits limits = r1::measure_limits(options);
  status.clear();
  return limits;
}

std::vector<Row> limit_rows(const r1::Limits& limits) {
  const auto row = [&](const char* test, int threads, double value, const char* unit) {
    Row result;
    result.test = test;
    result.isa = limits.isa;
    result.threads = threads;
    result.value = value;
    result.unit = unit;
    return result;
  };
  return {row("read", limits.threads, limits.read_bytes_per_s, "B/s"),
          row("read_huge_pages", limits.threads, limits.read_bytes_per_s_huge, "B/s"),
          row("multiply_bytes", limits.threads_batch, limits.byte_macs_per_s, "MAC/s"),
          row("multiply_float32", limits.threads_batch, limits.float_macs_per_s, "MAC/s"),
          row("multiply_bfloat16", limits.threads_batch, limits.bf16_macs_per_s, "MAC/s"),
          row("barrier", limits.threads, limits.barrier_seconds, "s")};
}

}  // namespace r1_tools
