// Tells UTF-8 from other encodings of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace r1_tools {

/// Bytes of `text` up to the first that is not part of a well-formed UTF-8 character (The Unicode
/// Standard, table 3-7); text.size() when all is well.
std::size_t valid_utf8_prefix(std::string_view text);

/// The name, as iconv knows it, of the encoding that a text seems to be in which is not UTF-8 or
/// holds zero bytes: "UTF-16LE", "GB18030" and others; empty when there is no telling.
std::string guess_encoding(std::string_view text);

/// True when `text`, valid UTF-8, is written in Chinese: it has Han characters and no kana.
bool is_chinese(std::string_view text);

}  // namespace r1_tools
