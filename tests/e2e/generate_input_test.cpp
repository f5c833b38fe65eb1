// Where prompts come from, and what is refused: encodings, files, standard streams, signals.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/e2e/generate_tool.hpp"
#include "tests/support/temp_folder.hpp"

using namespace r1::e2e;
using namespace std::string_literals;
using r1::support::ProcessOptions;
using r1::support::ProcessResult;
using r1::testing::TempFolder;

namespace {

// "鸡兔" in GBK, from the table of GB 2312 (0xBCA6, 0xCDC3).
const std::string kGbk = "\xBC\xA6\xCD\xC3";

ProcessResult generate_from(const std::string& input, std::vector<std::string> arguments = {}) {
  ProcessOptions options;
  options.input = input;
  arguments.insert(arguments.begin(), "-q");
  return generate(std::move(arguments), options);
}

/// Prompt tokens that a text from standard input makes.
std::string prompt_ids_from(const std::string& input) {
  ProcessOptions options;
  options.input = input;
  const ProcessResult result = generate({"--json", "-n", "0"}, options);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out).at("prompt_token_ids").dump();
}

}  // namespace

TEST_CASE("the prompt comes from a file or from standard input", "[e2e]") {
  const TempFolder folder;
  const std::string path = folder.write("question.txt", kChickens + "\n"s);
  const std::string expected = generate({"-q", kChickens}).out;
  CHECK(contains(expected, "鸡有23只"));
  CHECK(generate({"-q", "-f", path}).out == expected);
  CHECK(generate({"-q", "--file=" + path}).out == expected);
  CHECK(generate_from(kChickens + "\n"s).out == expected);
  CHECK(generate_from(kChickens + "\r\n"s).out == expected);
  CHECK(generate_from(kChickens, {"-f", "-"}).out == expected);
  CHECK(generate_from("\xEF\xBB\xBF"s + kChickens).out == expected);
  // With a prompt at hand standard input is left alone.
  CHECK(generate_from("something else", {kChickens}).out == expected);
}

TEST_CASE("exactly one newline at the end of a file is dropped", "[e2e]") {
  const std::string plain = prompt_ids_from("hello");
  CHECK(prompt_ids_from("hello\n") == plain);
  CHECK(prompt_ids_from("hello\r\n") == plain);
  CHECK(prompt_ids_from("hello\n\n") != plain);
  CHECK(prompt_ids_from("hello ") != plain);
  CHECK(prompt_ids_from("\nhello") != plain);
}

TEST_CASE("other encodings are refused with the command that mends them", "[e2e]") {
  struct Case {
    std::string bytes, fix;
  };
  const std::vector<Case> cases = {
      {"\xFF\xFEh\0i\0"s, "iconv -f UTF-16 -t UTF-8"},
      {"\xFE\xFF\0h\0i"s, "iconv -f UTF-16 -t UTF-8"},
      {"h\0i\0"s, "iconv -f UTF-16LE -t UTF-8"},
      {"\0h\0i"s, "iconv -f UTF-16BE -t UTF-8"},
      {"\xFF\xFE\0\0h\0\0\0"s, "iconv -f UTF-32 -t UTF-8"},
      {kGbk, "iconv -f GB18030 -t UTF-8"},
      {"35 " + kGbk + ", 94\n", "iconv -f GB18030 -t UTF-8"},
      {"caf\xE9 au lait", "iconv -f ENCODING -t UTF-8"},
      {"\xC0\xAF\xC0 overlong", "offset 0"},
      {"abc\n\xED\xA0\x80 surrogate", "offset 4 (line 2)"},
      {"a long text, cut off inside \xE4\xB8", "offset 28"},
  };
  const TempFolder folder;
  for (const Case& c : cases) {
    INFO(c.fix);
    const ProcessResult piped = generate_from(c.bytes);
    CHECK(piped.exit_code == 1);
    CHECK(contains(piped.err, c.fix));
    CHECK(line_count(piped.err) == 1);
    const std::string path = folder.write("text", c.bytes);
    const ProcessResult file = generate({"-f", path});
    CHECK(file.exit_code == 1);
    CHECK(contains(file.err, path));
    CHECK(contains(file.err, c.fix));
    CHECK(file.out.empty());
  }
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{kGbk},
                                                    {"-p", kGbk},
                                                    {"--system", kGbk, "x"},
                                                    {"--stop", kGbk, "x"}}) {
    const ProcessResult result = generate(arguments);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "iconv -f GB18030"));
  }
}

TEST_CASE("an empty prompt is an error", "[e2e]") {
  CHECK(generate({""}).exit_code == 2);
  CHECK(generate({"-p", ""}).exit_code == 2);
  for (const char* input : {"", "\n", "\r\n", "\xEF\xBB\xBF\n"}) {
    const ProcessResult result = generate_from(input);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "prompt: expected some text, got none"));
  }
}

TEST_CASE("files that cannot be read are named", "[e2e]") {
  const TempFolder folder;
  const std::string missing = folder.file("none");
  const ProcessResult prompt = generate({"-f", missing});
  CHECK(prompt.exit_code == 1);
  CHECK(contains(prompt.err, missing));
  CHECK(contains(prompt.err, "No such file"));
  CHECK(contains(generate({"-f", folder.path().string()}).err, "directory"));
  CHECK(contains(generate({"-f", "/dev/zero"}).err, "64 MiB"));

  for (const std::string& path :
       {missing, folder.write("empty.gguf", ""), folder.write("text.gguf", "not a model"),
        folder.path().string()}) {
    const ProcessResult model = generate({"-m", path, "x"});
    INFO(model.err);
    CHECK(model.exit_code == 1);
    CHECK(model.err.starts_with("r1-generate: error: "));
    CHECK(line_count(model.err) == 1);
    CHECK(contains(model.err, path));
    CHECK(model.out.empty());
  }
}

TEST_CASE("a full disk is an error, a reader that goes away is none", "[e2e]") {
  ProcessOptions full;
  full.out_path = "/dev/full";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{kChickens}, {"--json", kChickens}, {"--help"}, {"--version"}}) {
    const ProcessResult result = generate(arguments, full);
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "cannot write to standard output: No space left on device"));
  }
  ProcessOptions head;
  head.close_at_output = true;
  const ProcessResult cut = generate(joined({"-q", "--think", "show", kChickens}, kEndless), head);
  CHECK(cut.exit_code == 141);  // 128 + SIGPIPE, as of any program before `head`
  CHECK(cut.err.empty());
}

TEST_CASE("Ctrl-C stops the answer and keeps what there is", "[e2e]") {
  ProcessOptions options;
  options.interrupt_at_output = true;
  const ProcessResult result = generate(joined({"--think", "show", kChickens}, kEndless), options);
  CHECK(result.exit_code == 130);
  CHECK(result.out.starts_with("<think>\n"));
  CHECK(contains(result.err, "stopped by Ctrl-C"));
}

TEST_CASE("the language of the environment changes nothing", "[e2e]") {
  const std::string expected = generate({"-q", kChickens}).out;
  ProcessOptions c_locale;
  c_locale.environment = {{"LC_ALL", "C"}, {"LANG", "C"}, {"TERM", "dumb"}};
  CHECK(generate({"-q", kChickens}, c_locale).out == expected);

  // A locale with a decimal comma, made here because few machines have it.
  const TempFolder folder;
  const ProcessResult made = r1::support::run_process(
      {"/usr/bin/localedef", "-i", "de_DE", "-f", "UTF-8", folder.file("de_DE.UTF-8")});
  if (made.exit_code != 0) {
    WARN("no localedef here: the German locale is not tested");
    return;
  }
  ProcessOptions german;
  german.environment = {{"LC_ALL", "de_DE.UTF-8"}, {"LOCPATH", folder.path().string()}};
  const ProcessResult report =
      generate({"--json", "--temp", "0.5", "--top-p", "0.95", "--seed", "3", kChickens}, german);
  INFO(report.err);
  REQUIRE(report.exit_code == 0);
  CHECK(nlohmann::json::parse(report.out).at("timings").at("total_ms").is_number_float());
  CHECK(contains(nlohmann::json::parse(report.out).at("text"), "鸡有23只"));
  CHECK(generate({"--temp", "0,5", "x"}, german).exit_code == 2);
  // models/tiny-r1/README.md: 5.27 million.
  CHECK(contains(generate({"--verbose", kChickens}, german).err, "5.3 million parameters"));
}
