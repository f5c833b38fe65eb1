// Standard output and standard error as the tool uses them: text goes out at once, a failed write
// is an error, and what a model writes cannot steer the terminal.
#pragma once

#include <string>
#include <string_view>

#include "r1/generation.hpp"
#include "tools/r1-generate/options.hpp"

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
/// One line "r1-generate: KIND: LINE" on standard error.
void write_message(std::string_view kind, std::string_view line);

/// Streams an answer to standard output. Not thread-safe.
class AnswerWriter {
 public:
  /// `think` is what the command line says, `screen` that of standard output.
  AnswerWriter(ThinkMode think, Screen screen);

  /// True when `piece` is something to show.
  bool shows(const r1::Piece& piece) const;
  /// Writes one piece of the answer, if it is to be shown.
  void write(const r1::Piece& piece);
  /// Ends the last line.
  void finish();

 private:
  enum class Part { nothing, thought, answer };

  void put(std::string_view text);
  void begin(r1::PieceKind kind);

  ThinkMode think_;
  Screen screen_;
  Part part_ = Part::nothing;
  bool at_line_start_ = true;
};

}  // namespace r1_tools
