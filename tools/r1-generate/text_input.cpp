// Reads, checks and completes the prompt.
#include "tools/r1-generate/text_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "tools/command_line/usage_error.hpp"
#include "tools/r1-generate/encoding.hpp"
#include "tools/r1-generate/output.hpp"

namespace r1_tools {
namespace {

/// No context holds more; it keeps -f /dev/zero from filling the memory.
constexpr std::size_t kPromptBytesMax = std::size_t{64} << 20;
constexpr std::string_view kBom = "\xEF\xBB\xBF";

std::string read_all(int fd, const std::string& name) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw std::runtime_error(
          fmt::format("cannot read {}: {}", name, std::generic_category().message(errno)));
    }
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kPromptBytesMax) {
      throw std::runtime_error(
          fmt::format("{}: expected a prompt of at most 64 MiB, got more", name));
    }
  }
}

std::string read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    throw std::runtime_error(
        fmt::format("cannot open {}: {}", path, std::generic_category().message(errno)));
  }
  try {
    std::string text = read_all(fd, path);
    close(fd);
    return text;
  } catch (...) {
    close(fd);
    throw;
  }
}

/// `file` empty: standard input.
[[noreturn]] void refuse_encoding(std::string_view text, const std::string& file) {
  const std::string encoding = guess_encoding(text);
  const std::string name = file.empty() ? "standard input" : file;
  const std::size_t good = valid_utf8_prefix(text);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(good), '\n');
  const std::string got = encoding.empty()
                              ? fmt::format("a wrong byte at offset {} (line {})", good, line)
                              : (encoding == "GB18030" ? "what looks like GBK" : encoding);
  const std::string from = encoding.empty() ? "ENCODING" : encoding;
  const std::string fix = file.empty()
                              ? fmt::format("... | iconv -f {} -t UTF-8 | r1-generate", from)
                              : fmt::format("iconv -f {} -t UTF-8 '{}' > utf8.txt", from, file);
  throw std::runtime_error(
      fmt::format("{}: expected UTF-8, got {}; to convert it: {}", name, got, fix));
}

/// The text of a file: without a byte order mark and without one newline at the end.
std::string checked_file_text(std::string text, const std::string& file) {
  const bool has_zero = text.find('\0') != std::string::npos;
  if (valid_utf8_prefix(text) < text.size() || (has_zero && !guess_encoding(text).empty())) {
    refuse_encoding(text, file);
  }
  if (text.starts_with(kBom)) text.erase(0, kBom.size());
  if (text.ends_with("\r\n")) {
    text.resize(text.size() - 2);
  } else if (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The escapes of llama.cpp's -e: \n \r \t \' \" \\ \xHH; any other stays as it is.
std::string unescaped(std::string_view text) {
  constexpr std::string_view kFrom = "nrt'\"\\";
  constexpr std::string_view kTo = "\n\r\t'\"\\";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    const std::size_t at = next == '\0' ? std::string_view::npos : kFrom.find(next);
    if (at != std::string_view::npos) {
      out += kTo[at];
      i += 1;
    } else if (next == 'x' && i + 3 < text.size() && hex_digit(text[i + 2]) >= 0 &&
               hex_digit(text[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string argument_text(std::string_view name, std::string_view text, bool escape) {
  std::string result = escape ? unescaped(text) : std::string(text);
  if (valid_utf8_prefix(result) == result.size()) return result;
  const std::string encoding = guess_encoding(result);
  throw UsageError(fmt::format(
      "{}: expected UTF-8, got {}; put the text into a file and run: iconv -f {} -t UTF-8 FILE | "
      "r1-generate",
      name, encoding.empty() ? "other bytes" : "what looks like GBK",
      encoding.empty() ? "ENCODING" : encoding));
}

std::string with_cot_advice(std::string_view prompt) {
  // The wording is DeepSeek-R1's README's, "Usage Recommendations".
  return fmt::format(
      "{}\n{}", prompt,
      is_chinese(prompt)
          ? "请逐步推理，并将最终答案放在 \\boxed{} 中。"
          : "Please reason step by step, and put your final answer within \\boxed{}.");
}

std::string read_prompt(const Options& options) {
  std::string prompt;
  if (options.prompt) {
    prompt = argument_text("prompt", *options.prompt, options.escape);
  } else if (options.prompt_file.empty() || options.prompt_file == "-") {
    if (!options.quiet && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
      write_message("note", "type the prompt; Ctrl-D on an empty line ends it");
    }
    prompt = checked_file_text(read_all(STDIN_FILENO, "standard input"), "");
  } else {
    prompt = checked_file_text(read_file(options.prompt_file), options.prompt_file);
  }
  if (prompt.empty()) throw UsageError("prompt: expected some text, got none");
  return options.cot ? with_cot_advice(prompt) : prompt;
}

}  // namespace r1_tools
