// Rows as text: a table for people, JSON, CSV or Markdown for everything else.
#pragma once

#include <string>
#include <vector>

#include "tools/r1-bench/options.hpp"
#include "tools/r1-bench/row.hpp"

namespace r1_tools {

/// All of `rows` in `format`, ending with a newline.
std::string report(const std::vector<Row>& rows, Format format);

}  // namespace r1_tools
