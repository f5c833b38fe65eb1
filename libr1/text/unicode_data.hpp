// Tables of code point ranges behind unicode.hpp, sorted, without overlaps.
#pragma once

#include <cstdint>
#include <span>

#include "libr1/text/unicode.hpp"

namespace r1::text {

/// Code points [first, last], all of one class.
struct ClassRange {
  char32_t first;      ///< lowest
  char32_t last;       ///< highest, included
  CharClass in_class;  ///< letter, number, newline or space; what no range covers is `other`
};

/// Code points [first, last].
struct CodePointRange {
  char32_t first;  ///< lowest
  char32_t last;   ///< highest, included
};

/// All code points that have a class but `other`.
std::span<const ClassRange> class_ranges() noexcept;
/// All code points for which is_nfc_unsafe holds.
std::span<const CodePointRange> nfc_unsafe_ranges() noexcept;

}  // namespace r1::text
