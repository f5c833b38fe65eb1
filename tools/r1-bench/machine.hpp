// The machine's limits: measured with progress on the terminal, and as rows.
#pragma once

#include <string_view>
#include <vector>

#include "r1/measure.hpp"
#include "tools/command_line/status_line.hpp"
#include "tools/r1-bench/row.hpp"

namespace r1_tools {

/// Measures this machine; `status` shows `label` meanwhile. Throws r1::Error.
r1::Limits measure_machine(r1::LimitOptions options, std::string_view label, StatusLine& status);

/// `limits` as rows.
std::vector<Row> limit_rows(const r1::Limits& limits);

}  // namespace r1_tools
