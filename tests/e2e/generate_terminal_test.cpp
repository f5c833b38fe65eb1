// The tool at a terminal, and chats from a pipe.
#include <catch2/catch.hpp>

#include "tests/e2e/generate_tool.hpp"

using namespace r1::e2e;
using namespace std::string_literals;
using r1::support::Environment;
using r1::support::ProcessOptions;
using r1::support::ProcessResult;
using r1::support::TerminalProcess;

namespace {

constexpr const char* kDim = "\x1b[2m";

/// A terminal with colours in the poorest locale.
Environment terminal(Environment more = {}) {
  Environment environment = {{"TERM", "xterm"}, {"LC_ALL", "C"}, {"NO_COLOR", ""}};
  environment.insert(environment.end(), more.begin(), more.end());
  return environment;
}

std::string screen_of(std::vector<std::string> arguments, const Environment& environment) {
  TerminalProcess process(command(std::move(arguments)), environment);
  CHECK(process.wait() == 0);
  return process.screen();
}

}  // namespace

TEST_CASE("on a terminal the thought is dimmed and apart", "[e2e]") {
  const std::string styled = screen_of({"-q", kChickens}, terminal());
  CHECK(contains(styled, kDim + "题"s));
  CHECK(contains(styled, "鸡有23只"));
  CHECK(styled.rfind("\x1b[0m") < styled.find("答："));  // the answer is plain
  CHECK_FALSE(contains(styled, "think>"));

  for (const Environment& environment :
       {terminal({{"NO_COLOR", "1"}}), terminal({{"TERM", "dumb"}}), terminal({{"TERM", ""}})}) {
    const std::string plain = screen_of({"-q", kChickens}, environment);
    CHECK_FALSE(contains(plain, "\x1b"));
    CHECK(plain.starts_with("<think>\r\n"));
    CHECK(contains(plain, "</think>\r\n\r\n答："));
  }
  const std::string hidden = screen_of({"-q", "--think", "hide", kChickens}, terminal());
  CHECK_FALSE(contains(hidden, "验算"));
  CHECK(contains(hidden, "鸡有23只"));
}

TEST_CASE("a chat at a terminal takes Chinese under LANG=C", "[e2e]") {
  TerminalProcess process(command({}), terminal());
  REQUIRE(process.wait_for("/help"));
  REQUIRE(process.wait_for("> "));
  process.type(kChickens + "\r"s);
  CHECK(process.wait_for(kChickens));  // the echo of what was typed
  CHECK(process.wait_for("鸡有23只"));
  CHECK(process.wait_for("> "));
  process.type("/stats\r");
  CHECK(process.wait_for("prompt 17 tokens"));
  CHECK(process.wait_for("> "));
  process.type("/nonsense\r");
  CHECK(process.wait_for("unknown command /nonsense"));
  CHECK(process.wait_for("> "));
  process.type("/help\r");
  CHECK(process.wait_for("/reset"));
  CHECK(process.wait_for("> "));
  process.type("/exit\r");
  CHECK(process.wait() == 0);
}

TEST_CASE("a prompt that is typed without a chat says how it ends", "[e2e]") {
  TerminalProcess process(command({"--json"}), terminal());
  REQUIRE(process.wait_for("Ctrl-D"));
  process.type(kChickens + "\r"s);
  CHECK(process.wait_for("\r\n"));  // of the note
  CHECK(process.wait_for("\r\n"));  // the echo
  process.type("\x04");
  CHECK(process.wait_for("鸡有23只"));
  CHECK(process.wait() == 0);
}

TEST_CASE("several lines pasted at once are one message", "[e2e]") {
  TerminalProcess process(command({}), terminal());
  REQUIRE(process.wait_for("> "));
  process.type("鸡兔同笼，共35个头，\r94只脚，问鸡兔各几只？\r");
  CHECK(process.wait_for(kDim));
  CHECK(process.wait_for("\r\n> "));
  process.type("/stats\r");
  CHECK(process.wait_for("[prompt "));
  CHECK(process.wait_for("> "));
  process.type("\x04");
  CHECK(process.wait() == 0);
  std::size_t answers = 0;
  for (std::size_t at = process.screen().find("\x1b[2m"); at != std::string::npos;
       at = process.screen().find("\r\n> ", at + 1)) {
    ++answers;
  }
  CHECK(answers ==
        3);  // the thought's beginning, then the prompts after the answer and after /stats
}

TEST_CASE("Ctrl-C stops an answer, and leaves the chat when pressed twice", "[e2e]") {
  TerminalProcess process(command(kEndless), terminal());
  REQUIRE(process.wait_for("> "));
  process.type(kChickens + "\r"s);
  REQUIRE(process.wait_for(kDim));
  process.type("\x03");
  CHECK(process.wait_for("(stopped)"));
  CHECK(process.wait_for("> "));
  process.type("half a line");
  CHECK(process.wait_for("half a line"));
  process.type("\x03");  // clears the line only
  CHECK(process.wait_for("> "));
  process.type("\x03");
  CHECK(process.wait_for("again"));
  CHECK(process.wait_for("> "));
  process.type("\x03");
  CHECK(process.wait() == 130);
}

TEST_CASE("a chat reads its messages from a pipe with -i", "[e2e]") {
  ProcessOptions options;
  options.input = kChickens + "\n\n/reset\n"s +
                  "There are 35 heads and 94 feet of chickens and rabbits in a cage. How many of "
                  "each?\n/exit\nnever read";
  const ProcessResult result = generate({"-i"}, options);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "鸡有23只"));
  CHECK(contains(result.out, "23 chickens and 12 rabbits"));
  CHECK(line_count(result.out) == 2);

  options.input = "\xFF\xFE\n/stats\n";
  const ProcessResult odd = generate({"-i"}, options);
  CHECK(odd.exit_code == 0);
  CHECK(contains(odd.err, "expected UTF-8"));
  CHECK(contains(odd.err, "no answer yet"));

  options.input = "/stats\n";
  const ProcessResult first = generate({"-i", kChickens}, options);
  CHECK(contains(first.out, "鸡有23只"));
  CHECK(contains(first.err, "prompt 17 tokens"));
}

TEST_CASE("a message that does not fit ends no chat", "[e2e]") {
  ProcessOptions options;
  // Every digit is a token.
  options.input = std::string(1000, '7') + "\n/reset\n" + kChickens + "\n";
  const ProcessResult result = generate({"-i", "-c", "512"}, options);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "/reset begins a new conversation"));
  CHECK(contains(result.out, "鸡有23只"));
}
