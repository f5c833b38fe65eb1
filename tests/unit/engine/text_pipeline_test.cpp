// From tokens to pieces: control tokens, split characters, thoughts, stop strings in one pipeline.
#include "libr1/engine/text_pipeline.hpp"

#include <catch2/catch.hpp>

#include "libr1/gguf/reader.hpp"
#include "libr1/gguf/writer.hpp"
#include "tests/support/vocabulary.hpp"

using namespace r1;

namespace {

struct Fixture {
  support::Vocabulary vocabulary{support::Family::r1};
  std::vector<TokenId> ids;
  std::shared_ptr<const text::Tokenizer> tokenizer;

  explicit Fixture(const std::vector<std::string>& script) {
    for (const auto& token : script) ids.push_back(vocabulary.id(token));
    gguf::Writer writer;
    writer.add("general.architecture", std::string("qwen2"));
    vocabulary.write(writer, vocabulary.size());
    const auto image = writer.image();
    tokenizer = text::Tokenizer::from_gguf(gguf::Reader::from_memory(image, "vocabulary"), {});
  }
};

struct Text {
  std::string thought, answer;
};

Text run(const std::vector<std::string>& script, engine::ThoughtMode mode,
         std::vector<std::string> stops = {}) {
  const Fixture fixture(script);
  engine::TextPipeline pipeline(*fixture.tokenizer, mode, std::move(stops));
  Text text;
  const auto take = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      (piece.kind == PieceKind::thought ? text.thought : text.answer) += piece.text;
    }
  };
  for (const TokenId id : fixture.ids) take(pipeline.accept(id));
  take(pipeline.finish());
  return text;
}

}  // namespace

using engine::ThoughtMode;

TEST_CASE("the thought that the prompt opened ends at its tag") {
  const Text text = run({"let me", " see", "\n", "</think>", "\n\n", "42"}, ThoughtMode::started);
  CHECK(text.thought == "let me see");
  CHECK(text.answer == "42");
}

TEST_CASE("the model may open the thought itself") {
  const Text text = run({"<think>", "\n", "hm", "</think>", "yes"}, ThoughtMode::detect);
  CHECK(text.thought == "hm");
  CHECK(text.answer == "yes");
}

TEST_CASE("raw completions show tags as text") {
  CHECK(run({"<think>", "hm"}, ThoughtMode::raw).answer == "<think>hm");
}

TEST_CASE("control tokens show nothing") {
  CHECK(run({"a", "<｜begin▁of▁sentence｜>", "b"}, ThoughtMode::raw).answer == "ab");
}

TEST_CASE("characters split over tokens come whole") {
  CHECK(run({"x\xf0\x9f", "\xa6", "\x99"}, ThoughtMode::raw).answer == "x\xf0\x9f\xa6\x99");
  CHECK(run({"x\xf0\x9f"}, ThoughtMode::raw).answer == "x\xef\xbf\xbd");
}

TEST_CASE("stop strings cut the answer and leave the thought alone") {
  const Text text = run({"a STOP b", "</think>", "c ST", "OP d"}, ThoughtMode::started, {"STOP"});
  CHECK(text.thought == "a STOP b");
  CHECK(text.answer == "c ");
}

TEST_CASE("what looked like a stop string is released at the end") {
  CHECK(run({"c ST"}, ThoughtMode::raw, {"STOP"}).answer == "c ST");
}
