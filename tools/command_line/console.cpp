// Writing by write(2): every piece is visible at once, and ENOSPC is noticed where it happens.
#include "tools/command_line/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "tools/command_line/program.hpp"

namespace r1_tools {
namespace {

/// 0 or the errno of the failure.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Screen screen_of(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
  const bool terminal = isatty(fd) == 1;
  return {terminal, terminal && !dumb,
          terminal && !dumb && (no_color == nullptr || *no_color == '\0')};
}

void write_out(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) {
    throw std::runtime_error(
        fmt::format("cannot write to standard output: {}", std::generic_category().message(error)));
  }
}

void write_err(std::string_view text) { write_all(STDERR_FILENO, text); }

void write_message(std::string_view kind, std::string_view line) {
  write_err(fmt::format("{}: {}: {}\n", kProgram, kind, line));
}

}  // namespace r1_tools
