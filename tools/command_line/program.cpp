// The frame of a tool's main().
#include "tools/command_line/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>

#include "tools/command_line/console.hpp"
#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

/// Fills closed standard descriptors, so that no model file becomes "standard output". The mode is
/// the wrong one on purpose: reads and writes then fail as on a closed descriptor.
void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    const int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    static_cast<void>(opened);
  }
}

}  // namespace

int run_program(int argc, char** argv, int (*run)(const std::vector<std::string>& arguments)) {
  fill_standard_descriptors();
  // A reader that goes away (| head) ends the program without a word, whatever the parent ignored.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const UsageError& error) {
    write_message("error", error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    write_message("error", error.what());
    return kExitFailed;
  }
}

}  // namespace r1_tools
