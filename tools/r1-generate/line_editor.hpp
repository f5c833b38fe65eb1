// Reads the lines of a chat: with editing and history on a terminal, plainly elsewhere.
#pragma once

#include <memory>
#include <string>

#include "tools/r1-generate/interrupt.hpp"

namespace r1_tools {

/// What a read ended with.
enum class LineEvent { line, end, interrupt };

/// Line input on standard input. Uses libedit when standard input is a terminal and the prompt can
/// be shown on one. Several lines pasted at once arrive as one. Not thread-safe.
class LineEditor {
 public:
  /// `interrupt` tells of Ctrl-C and must outlive this.
  explicit LineEditor(Interrupt& interrupt);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  ~LineEditor();

  /// Shows `prompt` (on a terminal) and reads a line into `line`, without its newline; after an
  /// interrupt `line` is what had been typed.
  LineEvent read(const std::string& prompt, std::string& line);
  /// Adds a line to the history.
  void remember(const std::string& line);
  /// True when a person types the lines.
  bool is_interactive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Makes libedit read and show UTF-8 whatever LANG says. Numbers keep the C locale.
void use_utf8_locale();

}  // namespace r1_tools
