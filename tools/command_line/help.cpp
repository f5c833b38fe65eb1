// Lays the options out in two columns. CLI11's own formatter neither wraps lines nor keeps aliases
// out.
#include "tools/command_line/help.hpp"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace r1_tools {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kDescriptionColumn = 29;

/// "  -n, --max-tokens N": the first short and the first long name.
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return "  " + option.get_name(true);
  std::string result = "  ";
  if (!option.get_snames().empty()) result += "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) {
    result += option.get_snames().empty() ? "    --" : ", --";
    result += option.get_lnames().front();
  }
  if (option.get_items_expected_max() > 0) result += " " + option.get_type_name();
  return result;
}

/// `text` broken at blanks, each line from `column` on.
void append_wrapped(std::string& out, std::string_view text, std::size_t column) {
  std::size_t width = column;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    if (width > column && width + 1 + word.size() > kColumns) {
      out += "\n" + std::string(column, ' ');
      width = column;
    } else if (width > column) {
      out += ' ';
      ++width;
    }
    out += word;
    width += word.size();
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  out += '\n';
}

}  // namespace

std::string help_text(const CLI::App& app, std::string_view usage, std::string_view examples) {
  std::string out(usage);
  std::string group;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_description().empty()) continue;
    if (option->get_group() != group) {
      group = option->get_group();
      out += "\n" + group + ":\n";
    }
    std::string names = names_of(*option);
    if (names.size() + 2 > kDescriptionColumn) {
      out += names + "\n" + std::string(kDescriptionColumn, ' ');
    } else {
      out += names + std::string(kDescriptionColumn - names.size(), ' ');
    }
    append_wrapped(out, option->get_description(), kDescriptionColumn);
  }
  out += examples;
  return out;
}

}  // namespace r1_tools
