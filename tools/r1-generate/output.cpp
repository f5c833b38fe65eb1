// Which pieces are shown, dimmed or tagged, and without control characters.
#include "tools/r1-generate/output.hpp"

#include <fmt/format.h>

namespace r1_tools {
namespace {

constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

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
