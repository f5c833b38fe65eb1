// The stages in a row; each holds back as little as it must.
#include "libr1/engine/text_pipeline.hpp"

namespace r1::engine {

TextPipeline::TextPipeline(const text::Tokenizer& tokenizer, ThoughtMode mode,
                           std::vector<std::string> stops)
    : tokenizer_(tokenizer),
      mode_(mode),
      splitter_(mode == ThoughtMode::started),
      stops_(std::move(stops)) {}

std::vector<Piece> TextPipeline::split(const std::string& text) {
  if (mode_ != ThoughtMode::raw) return splitter_.feed(text);
  if (text.empty()) return {};
  return {{text, PieceKind::answer}};
}

std::vector<Piece> TextPipeline::apply_stops(std::vector<Piece> pieces) {
  std::vector<Piece> kept;
  for (Piece& piece : pieces) {
    if (piece.kind == PieceKind::answer) piece.text = stops_.feed(piece.text);
    if (!piece.text.empty()) kept.push_back(std::move(piece));
  }
  return kept;
}

std::vector<Piece> TextPipeline::accept(TokenId token) {
  if (stopped() || !tokenizer_.is_visible(token)) return {};
  return apply_stops(split(decoder_.feed(tokenizer_.bytes(token))));
}

std::vector<Piece> TextPipeline::finish() {
  if (stopped()) return {};
  std::vector<Piece> pieces = split(decoder_.finish());
  if (mode_ != ThoughtMode::raw) {
    for (Piece& piece : splitter_.finish()) pieces.push_back(std::move(piece));
  }
  pieces = apply_stops(std::move(pieces));
  if (!stopped()) {
    std::string rest = stops_.finish();
    if (!rest.empty()) pieces.push_back({std::move(rest), PieceKind::answer});
  }
  return pieces;
}

}  // namespace r1::engine
