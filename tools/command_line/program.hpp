// What every tool does around its work: standard descriptors, a reader that goes away, errors as
// one line and an exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace r1_tools {

/// The program's name, for messages. Each tool defines it.
extern const std::string_view kProgram;

/// Codes that a program ends with; 141 (128 + SIGPIPE) comes from the system when a reader goes
/// away.
enum ExitCode : int { kExitOk = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130 };

/// Calls `run` with the arguments after the program's name and returns its exit code. What it
/// throws becomes one line on standard error: UsageError ends with kExitUsage, anything else with
/// kExitFailed.
int run_program(int argc, char** argv, int (*run)(const std::vector<std::string>& arguments));

}  // namespace r1_tools
