// What the command line asked for, checked: every number is in its range, and options that exclude
// each other do not meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "r1/engine.hpp"
#include "r1/generation.hpp"
#include "r1/model.hpp"

namespace r1_tools {

/// What becomes of the thought.
enum class ThinkMode {
  automatic,  ///< shown on a terminal, hidden in a pipe
  show,       ///< thought and answer
  hide,       ///< the answer alone
  only,       ///< the thought alone
};

/// A command line. Text is as it was typed: not checked for UTF-8 yet.
struct Options {
  std::string model_path;             ///< empty: the embedded model
  std::optional<std::string> prompt;  ///< PROMPT or -p
  std::string prompt_file;            ///< -f; "-" is standard input; empty: none
  std::optional<std::string> system;
  r1::LoadOptions load;
  r1::EngineOptions engine;
  r1::GenerationOptions generation;
  std::optional<r1::KvType> key_type, value_type;  ///< as asked; settled in engine
  ThinkMode think = ThinkMode::automatic;
  bool chat = false;     ///< chat even when a prompt is given or standard input is no terminal
  bool raw = false;      ///< no chat template
  bool special = false;  ///< added tokens are recognised in a raw prompt
  bool cot = false;      ///< add DeepSeek's advice for maths
  bool escape = false;   ///< process \n and its like in text of the command line
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool version = false;             ///< print the version, nothing else
  std::optional<std::string> help;  ///< the help text, when it was asked for
  std::vector<std::string>
      without_use;  ///< options of other engines that were accepted for nothing
};

/// Reads `arguments` (without the program's name). Throws UsageError with one line.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace r1_tools
