// Writing by write(2): every piece is visible at once, and ENOSPC is noticed where it happens.
#include "tools/r1-generate/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace r1_tools {
namespace {

constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

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

/// `text` without control characters other than newline and tab. `\x1b]0;...` from a model would
/// otherwise rename the window, or worse. U+0080..U+009F are C2 80..C2 9F.
std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      ++i;
    } else if ((byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\t') {
      out += text[i];
    }
  }
  return out;
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
  write_err(fmt::format("r1-generate: {}: {}\n", kind, line));
}

AnswerWriter::AnswerWriter(ThinkMode think, Screen screen) : think_(think), screen_(screen) {
  if (think_ == ThinkMode::automatic) think_ = screen.terminal ? ThinkMode::show : ThinkMode::hide;
}

bool AnswerWriter::shows(const r1::Piece& piece) const {
  const bool thought = piece.kind == r1::PieceKind::thought;
  return !piece.text.empty() &&
         (think_ == ThinkMode::show || thought == (think_ == ThinkMode::only));
}

void AnswerWriter::put(std::string_view text) {
  write_out(text);
  if (!text.empty()) at_line_start_ = text.back() == '\n';
}

void AnswerWriter::begin(r1::PieceKind kind) {
  const Part part = kind == r1::PieceKind::thought ? Part::thought : Part::answer;
  if (part == part_) return;
  // Where nothing can be dimmed, the model's own tags keep the two apart.
  const bool tagged = think_ == ThinkMode::show && !screen_.styled;
  if (part == Part::thought) {
    if (tagged) put("<think>\n");
  } else if (part_ == Part::thought) {
    if (!at_line_start_) put("\n");
    put(tagged ? "</think>\n\n" : "\n");
  }
  part_ = part;
}

void AnswerWriter::write(const r1::Piece& piece) {
  if (!shows(piece)) return;
  begin(piece.kind);
  const bool dim = piece.kind == r1::PieceKind::thought && screen_.styled;
  const std::string text = screen_.terminal ? without_controls(piece.text) : piece.text;
  if (text.empty()) return;
  // Style is closed after each piece: a killed process then leaves no dimmed terminal.
  put(dim ? fmt::format("{}{}{}", kDim, text, kPlain) : text);
  at_line_start_ = text.back() == '\n';
}

void AnswerWriter::finish() {
  if (!at_line_start_) put("\n");
}

}  // namespace r1_tools
