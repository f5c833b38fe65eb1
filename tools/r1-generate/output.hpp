// The answer on standard output: what is shown of it, and what a model writes cannot steer the
// terminal.
#pragma once

#include "r1/generation.hpp"
#include "tools/command_line/console.hpp"
#include "tools/r1-generate/options.hpp"

namespace r1_tools {

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
