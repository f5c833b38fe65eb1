// Numbers byte by byte (RFC 8259, 6), with bounded digits, integers within their bounds.
#pragma once

#include <cstdint>

#include "libr1/text/json/frame.hpp"

namespace r1::text::json {

/// Takes one more byte of a number: true when it can still become one that the rule allows, and
/// `frame` is then past the byte.
bool advance(const Number& number, Frame& frame, std::uint8_t byte) noexcept;

/// True when what was read is a number that the rule allows.
bool is_whole(const Number& number, const Frame& frame) noexcept;

}  // namespace r1::text::json
