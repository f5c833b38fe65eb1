// Measures a model: loading, prefill, decode, and what of the machine's limits they are.
#pragma once

#include <vector>

#include "tools/command_line/status_line.hpp"
#include "tools/r1-bench/options.hpp"
#include "tools/r1-bench/row.hpp"

namespace r1_tools {

/// Runs all tests of `options`; progress goes to `status`, warnings to standard error. Throws
/// r1::Error.
std::vector<Row> run_model(const Options& options, StatusLine& status);

}  // namespace r1_tools
