// What the command line of r1-bench asked for, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "r1/engine.hpp"
#include "r1/measure.hpp"
#include "r1/model.hpp"

namespace r1_tools {

/// What r1-bench is to do.
enum class Command { help, version, roofline, model };

/// How rows are written.
enum class Format { table, json, csv, markdown };

/// A command line.
struct Options {
  Command command = Command::help;
  std::string help;  ///< the text, with Command::help
  Format format = Format::table;
  r1::LimitOptions limits;
  bool measure_limits = true;

  std::string model_path;                         ///< -m; empty with `synthetic`
  std::optional<r1::SyntheticOptions> synthetic;  ///< --synthetic and --type
  std::string save_path;                          ///< --save; empty: none
  r1::LoadOptions load;
  r1::EngineOptions engine;
  std::vector<std::int64_t> prompts = {512};  ///< tokens of a prompt each
  std::int64_t generate = 64;                 ///< decode steps
  std::vector<std::int64_t> depths = {0};
  std::vector<std::int64_t> batches = {1};
  int repetitions = 3;
  bool stages = false;  ///< say where the time of a step goes
};

/// Reads `arguments` (without the program's name). Throws UsageError with one line.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace r1_tools
