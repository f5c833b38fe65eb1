// Makes a command line written for llama.cpp readable for CLI11, which knows no long option behind
// a single dash: -tb becomes --threads-batch, -ctk becomes --cache-type-k.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace r1_tools {

/// `arguments` (without the program's name) with single-dash long options spelled out. Arguments
/// that are values of the option before them, and everything after "--", stay as they are. The
/// value of --flash-attn, which is optional, is dropped.
/// `takes_value` says whether an option, spelled with its dashes, is followed by a value.
std::vector<std::string> rewrite_arguments(
    const std::vector<std::string>& arguments,
    const std::function<bool(std::string_view option)>& takes_value);

}  // namespace r1_tools
