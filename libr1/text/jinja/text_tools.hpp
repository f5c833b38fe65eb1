// Operations on marked text that both filters and methods of strings are made of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {

/// Which ends strip works on.
enum class Ends { both, left, right };

/// Without white space, or without the characters of `characters` when it is not null.
Text strip(const Text& text, const Text* characters, Ends ends);
/// Every character in upper or lower case (simple mappings of Unicode).
Text upper(const Text& text);
Text lower(const Text& text);
/// First character upper, the rest lower.
Text capitalize(const Text& text);
/// str.title: a letter after a non-letter is upper, others lower.
Text title(const Text& text);
/// At most `count` (below 0: all) occurrences of `old_text` replaced.
Text replace(Runtime& runtime, const Text& text, const Text& old_text, const Text& new_text,
             std::int64_t count);
/// str.split / str.rsplit; `separator` null: runs of white space. `most` below 0: no bound.
std::vector<Text> split(Runtime& runtime, const Text& text, const Text* separator,
                        std::int64_t most, bool from_right);
/// str.splitlines for \n, \r and \r\n and Unicode's other line ends.
std::vector<Text> split_lines(const Text& text, bool keep_ends);

}  // namespace r1::text::jinja
