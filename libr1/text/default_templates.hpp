// Chat templates of our own, for files that carry none.
#pragma once

#include <string_view>

namespace r1::text {

/// The conversation format of DeepSeek-R1 and its distills: old thoughts are dropped, the answer
/// starts inside `<think>`. Source: the format section of the DeepSeek-R1 model card.
std::string_view default_r1_template();
/// ChatML with tool calls between `<tool_call>` tags; adds no system message of its own.
std::string_view default_chatml_template();

}  // namespace r1::text
