// The error of a command line that makes no sense, told apart from errors of the work itself.
#pragma once

#include <stdexcept>

namespace r1_tools {

/// `what()` is one line that names the option, what it takes and what it got. Ends the tool with
/// code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace r1_tools
