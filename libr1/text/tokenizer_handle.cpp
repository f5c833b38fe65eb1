// The public r1::Tokenizer: a shared pointer to the implementation in libr1/text/tokenizer.hpp.
#include <span>
#include <utility>

#include "libr1/text/tokenizer.hpp"
#include "r1/tokenizer.hpp"

namespace r1 {

Tokenizer::Tokenizer(std::shared_ptr<const text::Tokenizer> impl) : impl_(std::move(impl)) {}

std::vector<TokenId> Tokenizer::encode(std::string_view utf8, bool parse_special) const {
  const PromptPiece piece{std::string(utf8), parse_special};
  return impl_->encode(std::span<const PromptPiece>(&piece, 1));
}

std::vector<TokenId> Tokenizer::encode(const std::vector<PromptPiece>& pieces) const {
  return impl_->encode(pieces);
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  std::string out;
  for (const TokenId id : ids) out += impl_->bytes(id);
  return out;
}

std::string Tokenizer::token_text(TokenId id) const { return impl_->bytes(id); }

TokenId Tokenizer::find(std::string_view utf8) const { return impl_->find(utf8); }

std::int64_t Tokenizer::vocab_size() const { return impl_->vocab_size(); }

bool Tokenizer::is_end_of_generation(TokenId id) const { return impl_->is_end_of_generation(id); }

}  // namespace r1
