// Streams of bytes, cut anywhere (case T6); expected texts from Python's decoder.
#include "libr1/text/stream_decoder.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/text/tokenizer_fixtures.hpp"

namespace r1::text {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("an emoji over three tokens comes out whole", "[stream_decoder]") {
  const Tokenizer& tokenizer = qwen2_tokenizer();
  StreamDecoder decoder;
  CHECK(decoder.feed(tokenizer.bytes(11162)) == " ");
  CHECK(decoder.feed(tokenizer.bytes(99)).empty());
  CHECK(decoder.feed(tokenizer.bytes(247)) == "🦙");
  CHECK(decoder.finish().empty());
}

TEST_CASE("a cut emoji becomes one replacement at the end", "[stream_decoder]") {
  const Tokenizer& tokenizer = qwen2_tokenizer();
  StreamDecoder decoder;
  CHECK(decoder.feed(tokenizer.bytes(11162)) == " ");
  CHECK(decoder.feed(tokenizer.bytes(99)).empty());
  CHECK(decoder.finish() == kBad);
  CHECK(decoder.feed("a") == "a");  // finish() resets
}

TEST_CASE("a byte that cannot be completed is replaced at once", "[stream_decoder]") {
  StreamDecoder decoder;
  CHECK(decoder.feed("a\xA6") == "a" + kBad);
  CHECK(decoder.feed("\xFF"
                     "b") == kBad + "b");
  CHECK(decoder.feed("\xE4\xB8").empty());
  CHECK(decoder.feed("c") == kBad + "c");
  CHECK(decoder.feed("\xED").empty());
  CHECK(decoder.feed("\xA0") == kBad + kBad);
  CHECK(decoder.finish().empty());
}

TEST_CASE("the stream's text does not depend on where it is cut", "[stream_decoder]") {
  std::size_t broken = 0;
  const auto reference = tokenizer_data("reference.json");
  for (const auto& c : reference.at("repaired")) {
    const std::string hex = c.at("hex");
    StreamDecoder decoder;
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      const char byte = static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      out += decoder.feed(std::string_view(&byte, 1));
    }
    out += decoder.finish();
    INFO(hex);
    CHECK(out == c.at("text").get<std::string>());
    broken += out.find(kBad) == std::string::npos ? 0 : 1;
  }
  CHECK(broken > 500);
}

TEST_CASE("whole characters are never held back", "[stream_decoder]") {
  StreamDecoder decoder;
  for (const std::string text : {"a", "é", "中", "🦙", "\n"}) CHECK(decoder.feed(text) == text);
}

}  // namespace r1::text
