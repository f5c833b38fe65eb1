// The table of single-dash long options and the walk over the arguments.
#include "tools/command_line/rewrite.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace r1_tools {
namespace {

/// Names as llama.cpp's tools print them in --help.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kLongOptions = {{
    {"-tb", "--threads-batch"},
    {"-ub", "--ubatch-size"},
    {"-ctk", "--cache-type-k"},
    {"-ctv", "--cache-type-v"},
    {"-ngl", "--n-gpu-layers"},
    {"-sys", "--system"},
    {"-sp", "--special"},
    {"-cnv", "--conversation"},
    {"-no-cnv", "--no-conversation"},
    {"-nocnv", "--no-conversation"},
    {"-co", "--color"},
    {"-fa", "--flash-attn"},
    {"-st", "--single-turn"},
}};

/// An option with a value that older versions of llama.cpp did not have: "-fa on", "-fa".
constexpr std::string_view kSwitch = "--flash-attn";
constexpr std::array<std::string_view, 3> kSwitchValues = {"on", "off", "auto"};

std::string spelled_out(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = std::string_view(argument).substr(0, equals);
  const auto* const row = std::find_if(kLongOptions.begin(), kLongOptions.end(),
                                       [&](const auto& entry) { return entry.first == name; });
  if (row == kLongOptions.end()) return argument;
  std::string result(row->second);
  if (equals != std::string::npos) result += argument.substr(equals);
  return result;
}

}  // namespace

std::vector<std::string> rewrite_arguments(
    const std::vector<std::string>& arguments,
    const std::function<bool(std::string_view option)>& takes_value) {
  std::vector<std::string> result;
  bool is_value = false;
  bool is_positional = false;
  bool is_after_switch = false;
  for (const std::string& argument : arguments) {
    const bool is_switch_value =
        is_after_switch &&
        std::find(kSwitchValues.begin(), kSwitchValues.end(), argument) != kSwitchValues.end();
    is_after_switch = false;
    if (is_switch_value) continue;
    if (is_value || is_positional) {
      result.push_back(argument);
      is_value = false;
      continue;
    }
    is_positional = argument == "--";
    result.push_back(spelled_out(argument));
    is_value = takes_value(result.back());
    is_after_switch = result.back() == kSwitch;
  }
  return result;
}

}  // namespace r1_tools
