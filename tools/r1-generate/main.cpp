// r1-generate: answers one prompt or chats. This file puts the parts together.
#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tools/command_line/console.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/tiers.hpp"
#include "tools/r1-generate/chat.hpp"
#include "tools/r1-generate/interrupt.hpp"
#include "tools/r1-generate/line_editor.hpp"
#include "tools/r1-generate/options.hpp"
#include "tools/r1-generate/report.hpp"
#include "tools/r1-generate/run.hpp"
#include "tools/r1-generate/text_input.hpp"

namespace r1_tools {
namespace {

/// Text of the command line that goes to the model.
void check_argument_texts(Options& options) {
  if (options.system) {
    options.system = argument_text("--system", *options.system, options.escape);
  }
  for (std::string& stop : options.generation.stop) {
    stop = argument_text("--stop", stop, options.escape);
  }
}

void note_options_without_use(const Options& options) {
  if (options.without_use.empty() || options.quiet) return;
  std::string names;
  for (const std::string& name : options.without_use) names += (names.empty() ? "" : ", ") + name;
  write_message("note", fmt::format("without effect here: {}", names));
}

int run(const std::vector<std::string>& arguments) {
  use_utf8_locale();
  Options options = parse_options(arguments);
  if (options.help) {
    write_out(*options.help);
    return kExitOk;
  }
  check_isa(options.engine.isa);
  if (options.version) {
    write_out(version_text(options.engine.isa));
    return kExitOk;
  }
  check_cpu();
  const bool has_prompt = options.prompt.has_value() || !options.prompt_file.empty();
  const bool is_chat =
      options.chat || (!has_prompt && !options.raw && !options.json && isatty(STDIN_FILENO) == 1);
  check_argument_texts(options);
  std::optional<std::string> prompt;
  if (has_prompt || !is_chat) prompt = read_prompt(options);
  note_options_without_use(options);

  Interrupt interrupt;
  StatusLine status(screen_of(STDERR_FILENO).erasable && !options.quiet);
  const Run context{options, interrupt, status, screen_of(STDOUT_FILENO)};
  r1::Engine engine = start_engine(context);
  return is_chat ? run_chat(prompt, engine, context) : run_once(*prompt, engine, context);
}

}  // namespace

const std::string_view kProgram = "r1-generate";

}  // namespace r1_tools

int main(int argc, char** argv) { return r1_tools::run_program(argc, argv, r1_tools::run); }
