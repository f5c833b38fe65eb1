// The text of --help, made from the options themselves so that the two cannot differ.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace r1_tools {

/// Help for `app`: `usage`, options by group, `examples`; at most 80 columns. Options without a
/// description are left out.
std::string help_text(const CLI::App& app, std::string_view usage, std::string_view examples);

}  // namespace r1_tools
