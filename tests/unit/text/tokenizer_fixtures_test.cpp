// The shared vocabularies of tokenizer_fixtures.hpp, and a check that they are what they claim to
// be.
#include "tests/unit/text/tokenizer_fixtures.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "libr1/gguf/reader.hpp"
#include "libr1/text/byte_alphabet.hpp"
#include "libr1/text/utf8.hpp"

namespace r1::text {
namespace {

TokenizerSpec make_r1_spec() {
  TokenizerSpec spec = qwen2_spec();
  spec.pre = "deepseek-r1-qwen";
  spec.bos = 151646;
  spec.eos = 151643;
  spec.add_bos = true;
  for (const auto& added : tokenizer_data("r1_added_tokens.json")) {
    const auto id = added.at("id").get<std::size_t>();
    spec.tokens.at(id) = added.at("content").get<std::string>();
    const bool special = added.at("special").get<bool>();
    spec.kinds.at(id) = static_cast<int>(special ? TokenKind::control : TokenKind::user_defined);
  }
  return spec;
}

}  // namespace

const TokenizerSpec& qwen2_spec() {
  static const TokenizerSpec spec = tokenizer_spec_from_gguf(
      gguf::Reader::open(std::string(R1_TEST_DATA) + "/tokenizer/qwen2-vocab.gguf"));
  return spec;
}

const TokenizerSpec& r1_spec() {
  static const TokenizerSpec spec = make_r1_spec();
  return spec;
}

const Tokenizer& qwen2_tokenizer() {
  static const auto tokenizer = Tokenizer::from_spec(qwen2_spec(), nullptr);
  return *tokenizer;
}

const Tokenizer& r1_tokenizer() {
  static const auto tokenizer = Tokenizer::from_spec(r1_spec(), nullptr);
  return *tokenizer;
}

TokenizerSpec small_spec(const std::vector<std::string>& words,
                         const std::vector<std::string>& merges,
                         const std::vector<std::string>& added) {
  TokenizerSpec spec;
  spec.file = "small";
  spec.architecture = "qwen2";
  spec.model = "gpt2";
  spec.pre = "qwen2";
  for (int byte = 0; byte < 256; ++byte) {
    spec.tokens.emplace_back();
    append_utf8(spec.tokens.back(), byte_to_letter(static_cast<std::uint8_t>(byte)));
  }
  spec.tokens.insert(spec.tokens.end(), words.begin(), words.end());
  spec.kinds.assign(spec.tokens.size(), static_cast<int>(TokenKind::normal));
  spec.tokens.insert(spec.tokens.end(), added.begin(), added.end());
  spec.kinds.resize(spec.tokens.size(), static_cast<int>(TokenKind::control));
  spec.merges = merges;
  spec.eos = 0;
  return spec;
}

nlohmann::json tokenizer_data(const std::string& name) {
  std::ifstream file(std::string(R1_TEST_DATA) + "/tokenizer/" + name);
  return nlohmann::json::parse(file);
}

std::vector<TokenId> ids_of(const Tokenizer& tokenizer, const std::string& text,
                            bool parse_special) {
  const PromptPiece piece{text, parse_special};
  return tokenizer.encode(std::span<const PromptPiece>(&piece, 1));
}

std::string bytes_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += tokenizer.bytes(id);
  return out;
}

Made make(const TokenizerSpec& spec) {
  Made made;
  made.tokenizer = Tokenizer::from_spec(
      spec, [&made](std::string_view warning) { made.warnings.emplace_back(warning); });
  return made;
}

TEST_CASE("fixture vocabularies have the published ids", "[tokenizer]") {
  REQUIRE(qwen2_spec().tokens.size() == 151936);
  CHECK(qwen2_spec().tokens[151645] == "<|im_end|>");
  CHECK(r1_spec().tokens[151645] == "<｜Assistant｜>");
  CHECK(qwen2_spec().merges->size() == 151387);
}

}  // namespace r1::text
