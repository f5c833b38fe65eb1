// Words for errors about GGUF files: what a file may contain must not break the one line of a
// message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libr1/gguf/reader.hpp"

namespace r1::gguf {

/// `name` between quotes, with everything but printable ASCII as \xNN and cut after 80 bytes. For
/// keys and tensor names, which files choose freely.
std::string quote_name(std::string_view name);
/// The spelling of a metadata type, "uint32"; "type 77" for a number that is none.
std::string type_name(ValueType type);
/// A sorted enumeration for people: "a, b, c and 7 more" with at most `shown` items spelt out.
std::string listed(const std::vector<std::string>& items, std::size_t shown);

}  // namespace r1::gguf
