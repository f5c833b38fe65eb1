// Standard output and standard error as the tools use them: text goes out at once, and a failed
// write is an error.
#pragma once

#include <string_view>

namespace r1_tools {

/// What a file descriptor can show.
struct Screen {
  bool terminal = false;
  bool erasable = false;  ///< a line may be erased and drawn again: a terminal, and no dumb one
  bool styled = false;    ///< dimmed text may be used: no NO_COLOR (no-color.org), no dumb terminal
};
Screen screen_of(int fd);

/// Writes all of `text` to standard output. Throws std::runtime_error when that fails (disk full).
void write_out(std::string_view text);
/// Writes `text` to standard error; a failure is ignored.
void write_err(std::string_view text);
/// One line "PROGRAM: KIND: LINE" on standard error.
void write_message(std::string_view kind, std::string_view line);

}  // namespace r1_tools
