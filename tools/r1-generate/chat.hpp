// The conversation at a terminal.
#pragma once

#include <optional>
#include <string>

#include "r1/engine.hpp"
#include "tools/r1-generate/run.hpp"

namespace r1_tools {

/// Chats until /exit, the end of the input, or Ctrl-C twice; `first` is a message that is sent
/// before the first line is read. Returns the exit code. Throws std::runtime_error when standard
/// output cannot be written; what goes wrong with one message is reported and the chat goes on.
int run_chat(const std::optional<std::string>& first, r1::Engine& engine, const Run& run);

}  // namespace r1_tools
