// Puts the steps together: added tokens are cut out of template text; what lies between, across
// pieces, is one run that is normalised (NFC), split into words and merged. Order and scope of the
// steps are those of Hugging Face's tokenizers library, but that an added token never spans two
// pieces.
#include "libr1/text/tokenizer.hpp"

#include <fmt/format.h>

#include <utility>

#include "libr1/text/added_tokens.hpp"
#include "libr1/text/bpe.hpp"
#include "libr1/text/split.hpp"
#include "libr1/text/tokenizer_spec.hpp"
#include "libr1/text/unicode.hpp"
#include "libr1/text/utf8.hpp"
#include "libr1/text/vocabulary.hpp"
#include "r1/error.hpp"

namespace r1::text {
namespace {

/// Refuses tokenizers of another kind; warns where the Qwen2 split is a guess (case T3).
void check_identity(const TokenizerSpec& spec, const WarningSink& warn) {
  if (!spec.model) {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: tokenizer.ggml.model: expected gpt2, got no such key", spec.file));
  }
  if (*spec.model != "gpt2") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: tokenizer.ggml.model: expected gpt2, got '{}'", spec.file,
                            printable(*spec.model)));
  }
  const std::string tag = spec.pre.value_or("");
  if (tag == "qwen2" || tag == "deepseek-r1-qwen") return;
  const std::string got = spec.pre ? "'" + printable(tag) + "'" : "no such key";
  if (spec.architecture.value_or("") != "qwen2") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: tokenizer.ggml.pre: expected qwen2 or deepseek-r1-qwen, got {}",
                            spec.file, got));
  }
  if (warn) {
    warn(fmt::format(
        "{}: tokenizer.ggml.pre: expected qwen2 or deepseek-r1-qwen, got {}; the Qwen2 split is "
        "used because the architecture is qwen2",
        spec.file, got));
  }
}

}  // namespace

struct Tokenizer::Impl {
  Impl(const TokenizerSpec& spec, const WarningSink& warn)
      : vocabulary(spec, warn), bpe(vocabulary.byte_ids(), vocabulary.take_merges()) {
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.is_added(id)) added.add(vocabulary.bytes(id), id);
    }
  }

  Vocabulary vocabulary;
  Bpe bpe;
  AddedTokens added;
};

namespace {

/// Encodes one prompt; collects text until an added token or the end closes the run.
class RunEncoder {
 public:
  explicit RunEncoder(const Bpe& bpe) : bpe_(bpe) {}

  void append(std::string_view text) { run_ += text; }

  void close_run() {
    if (run_.size() > Bpe::kWordBytesMax) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("prompt: expected at most {} bytes, got {}", Bpe::kWordBytesMax,
                              run_.size()));
    }
    const std::string normal = is_nfc_quick(run_) ? std::move(run_) : nfc(run_);
    run_.clear();
    for (std::size_t pos = 0; pos < normal.size();) {
      const std::size_t end = word_end(normal, pos);
      bpe_.encode(std::string_view(normal).substr(pos, end - pos), scratch_, ids_);
      pos = end;
    }
  }

  void push(TokenId id) { ids_.push_back(id); }
  std::vector<TokenId> take() { return std::move(ids_); }

 private:
  const Bpe& bpe_;
  Bpe::Scratch scratch_;
  std::string run_;
  std::vector<TokenId> ids_;
};

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::from_gguf(
    const gguf::Reader& file, const std::function<void(std::string_view)>& on_warning) {
  return from_spec(tokenizer_spec_from_gguf(file), on_warning);
}

std::shared_ptr<const Tokenizer> Tokenizer::from_spec(
    const TokenizerSpec& spec, const std::function<void(std::string_view)>& on_warning) {
  check_identity(spec, on_warning);
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::make_unique<Impl>(spec, on_warning)));
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::span<const PromptPiece> pieces) const {
  RunEncoder encoder(impl_->bpe);
  for (const PromptPiece& piece : pieces) {
    const std::string_view text = piece.text;
    std::size_t pos = 0;
    while (piece.parse_special && pos < text.size()) {
      const AddedTokens::Match match = impl_->added.find(text, pos);
      if (match.id < 0) break;
      encoder.append(text.substr(pos, match.begin - pos));
      encoder.close_run();
      encoder.push(match.id);
      pos = match.end;
    }
    encoder.append(text.substr(pos));
  }
  encoder.close_run();
  return encoder.take();
}

std::vector<TokenId> Tokenizer::encode_prompt(std::span<const PromptPiece> pieces) const {
  std::vector<TokenId> ids = encode(pieces);
  if (adds_bos() && (ids.empty() || ids.front() != bos())) ids.insert(ids.begin(), bos());
  return ids;
}

const std::string& Tokenizer::bytes(TokenId id) const { return impl_->vocabulary.bytes(id); }

TokenKind Tokenizer::kind(TokenId id) const { return impl_->vocabulary.kind(id); }

bool Tokenizer::is_visible(TokenId id) const {
  const TokenKind of = kind(id);
  return of == TokenKind::normal || of == TokenKind::user_defined || of == TokenKind::byte;
}

bool Tokenizer::is_samplable(TokenId id) const { return impl_->vocabulary.is_samplable(id); }

bool Tokenizer::is_end_of_generation(TokenId id) const {
  return impl_->vocabulary.is_end_of_generation(id);
}

const std::vector<TokenId>& Tokenizer::end_of_generation() const {
  return impl_->vocabulary.end_of_generation();
}

TokenId Tokenizer::find(std::string_view utf8) const { return impl_->vocabulary.find(utf8); }

std::int64_t Tokenizer::vocab_size() const { return impl_->vocabulary.size(); }

TokenId Tokenizer::bos() const { return impl_->vocabulary.bos(); }

TokenId Tokenizer::eos() const { return impl_->vocabulary.eos(); }

bool Tokenizer::adds_bos() const { return impl_->vocabulary.adds_bos(); }

bool Tokenizer::is_r1() const { return impl_->vocabulary.is_r1(); }

}  // namespace r1::text
