// Thought and answer, told apart the same way whatever the chunks (case C3).
#include "libr1/text/think_splitter.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace {

using r1::Piece;
using r1::PieceKind;
using r1::text::ThinkSplitter;

struct Split {
  std::string thought;
  std::string answer;
  bool operator==(const Split&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Split& split) {
  return out << "{thought \"" << split.thought << "\", answer \"" << split.answer << "\"}";
}

Split run(bool starts_in_thought, const std::vector<std::string>& chunks) {
  ThinkSplitter splitter(starts_in_thought);
  Split result;
  const auto take = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      CHECK_FALSE(piece.text.empty());
      // A thought never follows the answer.
      if (piece.kind == PieceKind::thought) CHECK(result.answer.empty());
      (piece.kind == PieceKind::thought ? result.thought : result.answer) += piece.text;
    }
  };
  for (const std::string& chunk : chunks) take(splitter.feed(chunk));
  take(splitter.finish());
  CHECK(splitter.finish().empty());
  CHECK_FALSE(splitter.in_thought());
  return result;
}

struct Case {
  bool starts_in_thought;
  std::string text;
  Split expected;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {true, "I think.\n</think>\n\nAnswer.", {"I think.", "Answer."}},
      {true, "\nI think.</think>Answer.\n", {"I think.", "Answer.\n"}},
      {true, "never closed \n", {"never closed \n", ""}},
      {true, "cut in the tag</thi", {"cut in the tag</thi", ""}},
      {true, "a < b </ c </thinker> d\n\n</think> x", {"a < b </ c </thinker> d", "x"}},
      {true, "<think>\nsaid twice</think>\n\nA", {"said twice", "A"}},
      {true, "</think>\n\nA", {"", "A"}},
      {true, "\n\n</think>\n\n", {"", ""}},
      {true, "", {"", ""}},
      {true, "one</think>two</think><think>three", {"one", "two</think><think>three"}},
      {true, "<<</think>>", {"<<", ">"}},
      {true, "a <think> b </think>c", {"a <think> b", "c"}},
      {true, "想\n\n想 </think>\n答", {"想\n\n想", "答"}},
      {false, "<think>\nI think.\n</think>\n\nAnswer.", {"I think.", "Answer."}},
      {false, " \n<think>x</think>y", {"x", "y"}},
      {false, "<think>\n\n</think>\n\nAnswer", {"", "Answer"}},
      {false, "<think>open", {"open", ""}},
      {false, "  plain answer\n", {"", "  plain answer\n"}},
      {false, "\n\n", {"", "\n\n"}},
      {false, "<thi", {"", "<thi"}},
      {false, " <thinker> x", {"", " <thinker> x"}},
      {false, "answer <think>not a thought</think>", {"", "answer <think>not a thought</think>"}},
      {false, "</think> x", {"", "</think> x"}},
      {false, "<|think|>", {"", "<|think|>"}},
  };
  return all;
}

}  // namespace

TEST_CASE("think splitter: whole text", "[text][think]") {
  for (const Case& one : cases()) {
    INFO(one.text);
    CHECK(run(one.starts_in_thought, {one.text}) == one.expected);
  }
}

TEST_CASE("think splitter: any chunks give the same as the whole", "[text][think]") {
  for (const Case& one : cases()) {
    INFO(one.text);
    std::vector<std::string> bytes;
    for (const char c : one.text) bytes.emplace_back(1, c);
    CHECK(run(one.starts_in_thought, bytes) == one.expected);
    for (std::size_t i = 0; i <= one.text.size(); ++i) {
      CHECK(run(one.starts_in_thought, {one.text.substr(0, i), one.text.substr(i)}) ==
            one.expected);
      for (std::size_t j = i; j <= one.text.size(); j += 3) {
        CHECK(run(one.starts_in_thought, {one.text.substr(0, i), one.text.substr(i, j - i),
                                          one.text.substr(j)}) == one.expected);
      }
    }
  }
}

TEST_CASE("think splitter: holds back only what may become a tag or be trimmed", "[text][think]") {
  ThinkSplitter splitter(true);
  CHECK(splitter.in_thought());
  CHECK(splitter.feed("\n ").empty());
  auto pieces = splitter.feed("word ");
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].text == "word");
  pieces = splitter.feed("<");
  CHECK(pieces.empty());
  pieces = splitter.feed("b");
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].text == " <b");
  CHECK(splitter.feed("\n</think").empty());
  CHECK(splitter.in_thought());
  CHECK(splitter.feed(">\n").empty());
  CHECK_FALSE(splitter.in_thought());
  pieces = splitter.feed(" A<");
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].text == "A<");
  CHECK(pieces[0].kind == PieceKind::answer);

  ThinkSplitter plain(false);
  CHECK_FALSE(plain.in_thought());
  CHECK(plain.feed("<th").empty());
  pieces = plain.feed("e");
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].text == "<the");
}
