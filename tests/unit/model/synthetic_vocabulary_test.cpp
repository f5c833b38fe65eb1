// Made-up vocabularies load as a family's own, without a warning.
#include "libr1/model/synthetic_vocabulary.hpp"

#include <catch2/catch.hpp>

#include "libr1/gguf/reader.hpp"
#include "libr1/text/tokenizer.hpp"

using namespace r1;
using model::TokenFamily;

namespace {

std::shared_ptr<const text::Tokenizer> tokenizer(TokenFamily family, std::int64_t named,
                                                 std::int64_t rows) {
  gguf::Writer writer;
  writer.add("general.architecture", std::string("qwen2"));
  model::add_vocabulary(writer, family, named, rows);
  const auto image = writer.image();
  return text::Tokenizer::from_gguf(
      gguf::Reader::from_memory(image, "vocabulary"),
      [](std::string_view line) { FAIL_CHECK("expected no warning, got: " << line); });
}

}  // namespace

TEST_CASE("added tokens have the ids of the families' tokenizer.json") {
  const auto qwen = tokenizer(TokenFamily::qwen, 151665, 151936);
  CHECK(qwen->vocab_size() == 151936);
  CHECK(qwen->find("<|endoftext|>") == 151643);
  CHECK(qwen->find("<|im_start|>") == 151644);
  CHECK(qwen->find("<|im_end|>") == 151645);
  CHECK(qwen->find("<tool_call>") == 151657);
  CHECK(qwen->find("<|file_sep|>") == 151664);
  CHECK(qwen->eos() == 151645);
  CHECK_FALSE(qwen->adds_bos());
  CHECK_FALSE(qwen->is_r1());

  const auto r1 = tokenizer(TokenFamily::r1, 151665, 152064);
  CHECK(r1->vocab_size() == 152064);
  CHECK(r1->find("<｜end▁of▁sentence｜>") == 151643);
  CHECK(r1->find("<｜User｜>") == 151644);
  CHECK(r1->find("<｜Assistant｜>") == 151645);
  CHECK(r1->find("<｜begin▁of▁sentence｜>") == 151646);
  CHECK(r1->find("<think>") == 151648);
  CHECK(r1->find("</think>") == 151649);
  CHECK(r1->bos() == 151646);
  CHECK(r1->eos() == 151643);
  CHECK(r1->adds_bos());
  CHECK(r1->is_r1());
}

TEST_CASE("every text is encoded and comes back, letters in pairs") {
  for (const std::int64_t named : {278, 300, 151665}) {
    const auto tokens = tokenizer(TokenFamily::qwen, named, named + 8);
    std::string bytes = "hello world, 鸡兔同笼 ";
    for (int byte = 1; byte < 128; ++byte) bytes += static_cast<char>(byte);
    const PromptPiece piece{bytes, false};
    std::string back;
    for (const TokenId id : tokens->encode(std::span(&piece, 1))) back += tokens->bytes(id);
    CHECK(back == bytes);
  }
  const PromptPiece word{"hello", false};
  CHECK(tokenizer(TokenFamily::r1, 151665, 151936)->encode(std::span(&word, 1)).size() == 3);
}

TEST_CASE("named rows may be sampled, the others not") {
  const auto tokens = tokenizer(TokenFamily::r1, 151665, 151936);
  for (TokenId id = 0; id < 151936; ++id) {
    if (tokens->is_samplable(id) != (id < 151665)) FAIL("token " << id);
    if (id < 151665 && tokens->bytes(id).empty()) FAIL("token " << id << " spells nothing");
  }
}
