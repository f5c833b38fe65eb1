// Loads a model and answers with it: what one prompt and a chat have in common, and the one prompt.
#pragma once

#include <string>

#include "r1/engine.hpp"
#include "tools/command_line/console.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/status_line.hpp"
#include "tools/r1-generate/interrupt.hpp"
#include "tools/r1-generate/options.hpp"
#include "tools/r1-generate/output.hpp"

namespace r1_tools {

/// What running a session needs; all of it outlives the run.
struct Run {
  const Options& options;
  Interrupt& interrupt;
  StatusLine& status;
  Screen out;  ///< of standard output
};

/// Loads the model and starts the engine as `run.options` say; warnings go to standard error.
/// Throws r1::Error, UsageError.
r1::Engine start_engine(const Run& run);

/// Generates the answer of `session`, whose prompt has been given, and streams it unless --json.
/// Ctrl-C stops it. Throws std::runtime_error when standard output cannot be written.
const r1::Generation& answer(r1::Session& session, const Run& run);

/// Answers `prompt`, reports, and returns the exit code. Throws as the above.
int run_once(const std::string& prompt, r1::Engine& engine, const Run& run);

/// True when the tokens of this run are drawn, not just the likeliest ones taken.
bool is_drawn(const r1::Engine& engine, const Options& options);

}  // namespace r1_tools
