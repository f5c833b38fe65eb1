// r1-bench: what this machine can do, and how much of it a model gets. This file puts the parts
// together.
#include <unistd.h>

#include <string>
#include <vector>

#include "r1/model.hpp"
#include "tools/command_line/console.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/status_line.hpp"
#include "tools/command_line/tiers.hpp"
#include "tools/r1-bench/machine.hpp"
#include "tools/r1-bench/model_run.hpp"
#include "tools/r1-bench/options.hpp"
#include "tools/r1-bench/report.hpp"

namespace r1_tools {
namespace {

std::vector<Row> run_roofline(const Options& options, StatusLine& status) {
  return limit_rows(measure_machine(options.limits, "measuring this machine", status));
}

int run(const std::vector<std::string>& arguments) {
  const Options options = parse_options(arguments);
  if (options.command == Command::help) {
    write_out(options.help);
    return kExitOk;
  }
  if (options.command == Command::version) {
    write_out(version_text(options.engine.isa));
    return kExitOk;
  }
  if (!options.save_path.empty()) {
    r1::write_synthetic(options.save_path, *options.synthetic);
    return kExitOk;
  }
  check_isa(options.engine.isa);
  check_cpu();
  StatusLine status(screen_of(STDERR_FILENO).erasable);
  const std::vector<Row> rows = options.command == Command::roofline ? run_roofline(options, status)
                                                                     : run_model(options, status);
  write_out(report(rows, options.format));
  return kExitOk;
}

}  // namespace

const std::string_view kProgram = "r1-bench";

}  // namespace r1_tools

int main(int argc, char** argv) { return r1_tools::run_program(argc, argv, r1_tools::run); }
