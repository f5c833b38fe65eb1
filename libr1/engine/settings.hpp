// Engine options settled: what the caller left open is chosen here, what makes no sense is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kernels/api/table.hpp"
#include "r1/engine.hpp"

namespace r1::engine {

/// Settled options of an engine.
struct Settings {
  const kernels::KernelTable* table = nullptr;
  int threads = 1;
  int threads_batch = 1;
  std::string threads_reason;  ///< why that many
  std::int64_t kv_tokens = 0;
  std::int64_t batch_size = 0;
  kernels::KvType kv_type = kernels::KvType::f16;
  std::int64_t kv_memory = 0;  ///< bytes as asked; 0: as many as seem right
  double max_stall_s = 0;
};

/// The kernels' name of a type.
kernels::KvType kernel_type(KvType type);

/// The kernels of the tier called `name`, the best that this CPU has for "". Throws
/// Error{invalid_argument} naming those there are, Error{unsupported} when there is none.
const kernels::KernelTable* choose_table(const std::string& name);

/// Settles `options` for a model trained for `trained_context` positions; doubts go to
/// options.on_warning. Throws Error{invalid_argument, unsupported}.
Settings settle(const EngineOptions& options, std::int64_t trained_context);

/// What a caller is told of the settings; the loop knows the sizes.
EngineInfo describe(const Settings& settings);

}  // namespace r1::engine
