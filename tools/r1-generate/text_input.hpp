// Where a prompt comes from and what it must be: UTF-8, not empty. What is in another encoding is
// refused with the command that converts it, never guessed at.
#pragma once

#include <string>
#include <string_view>

#include "tools/r1-generate/options.hpp"

namespace r1_tools {

/// The prompt of `options`: its text, its file, else standard input; escapes and the advice of
/// --cot are applied. Throws UsageError for an empty or badly encoded text, std::runtime_error when
/// reading fails.
std::string read_prompt(const Options& options);

/// `text` of option `name` after escape processing if `escape`. Throws UsageError when it is not
/// UTF-8.
std::string argument_text(std::string_view name, std::string_view text, bool escape);

/// `prompt` with the advice that DeepSeek gives for mathematical problems, in the prompt's
/// language.
std::string with_cot_advice(std::string_view prompt);

}  // namespace r1_tools
