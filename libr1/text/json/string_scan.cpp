// One table, made by the compiler from the rules.
#include "libr1/text/json/string_scan.hpp"

#include <array>
#include <cstddef>

namespace r1::text::json {
namespace {

using enum StringScan;

constexpr std::size_t kStates = static_cast<std::size_t>(closed);

constexpr bool between(int byte, int low, int high) { return byte >= low && byte <= high; }

constexpr bool is_hex(int byte) {
  return between(byte, '0', '9') || between(byte, 'a', 'f') || between(byte, 'A', 'F');
}

constexpr bool is_hex_d(int byte) { return byte == 'd' || byte == 'D'; }

constexpr StringScan after_boundary(int byte) {
  if (byte == '"') return closed;
  if (byte == '\\') return escape;
  if (between(byte, 0x20, 0x7F)) return boundary;
  if (byte == 0xE0) return after_e0;
  if (byte == 0xED) return after_ed;
  if (byte == 0xF0) return after_f0;
  if (byte == 0xF4) return after_f4;
  if (between(byte, 0xC2, 0xDF)) return tail_1;
  if (between(byte, 0xE1, 0xEF)) return tail_2;
  if (between(byte, 0xF1, 0xF3)) return tail_3;
  return broken;
}

constexpr StringScan after_escape(int byte) {
  if (byte == 'u') return unicode_1;
  for (const char letter : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) {
    if (byte == letter) return boundary;
  }
  return broken;
}

constexpr StringScan after_d(int byte) {
  if (between(byte, '0', '7')) return unicode_3;
  return byte == '8' || byte == '9' || byte == 'a' || byte == 'b' || byte == 'A' || byte == 'B'
             ? high_3
             : broken;
}

constexpr StringScan following(StringScan state, int byte) {
  const auto when = [](bool holds, StringScan next) { return holds ? next : broken; };
  switch (state) {
    case boundary:
      return after_boundary(byte);
    case tail_1:
      return when(between(byte, 0x80, 0xBF), boundary);
    case tail_2:
      return when(between(byte, 0x80, 0xBF), tail_1);
    case tail_3:
      return when(between(byte, 0x80, 0xBF), tail_2);
    case after_e0:
      return when(between(byte, 0xA0, 0xBF), tail_1);
    case after_ed:
      return when(between(byte, 0x80, 0x9F), tail_1);
    case after_f0:
      return when(between(byte, 0x90, 0xBF), tail_2);
    case after_f4:
      return when(between(byte, 0x80, 0x8F), tail_2);
    case escape:
      return after_escape(byte);
    case unicode_1:
      return is_hex_d(byte) ? unicode_d : when(is_hex(byte), unicode_2);
    case unicode_2:
      return when(is_hex(byte), unicode_3);
    case unicode_3:
      return when(is_hex(byte), unicode_4);
    case unicode_4:
      return when(is_hex(byte), boundary);
    case unicode_d:
      return after_d(byte);
    case high_3:
      return when(is_hex(byte), high_4);
    case high_4:
      return when(is_hex(byte), low_escape);
    case low_escape:
      return when(byte == '\\', low_u);
    case low_u:
      return when(byte == 'u', low_d);
    case low_d:
      return when(is_hex_d(byte), low_2);
    case low_2:
      return when(between(byte, 'c', 'f') || between(byte, 'C', 'F'), unicode_3);
    case closed:
    case broken:
      break;
  }
  return broken;
}

constexpr auto kTable = [] {
  std::array<std::array<StringScan, 256>, kStates> table{};
  for (std::size_t state = 0; state < kStates; ++state) {
    for (int byte = 0; byte < 256; ++byte) {
      table[state][static_cast<std::size_t>(byte)] =
          following(static_cast<StringScan>(state), byte);
    }
  }
  return table;
}();

}  // namespace

StringScan advance(StringScan state, std::uint8_t byte) noexcept {
  return kTable[static_cast<std::size_t>(state)][byte];
}

}  // namespace r1::text::json
