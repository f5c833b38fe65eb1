// An integer's first digits are good when some number of further digits brings it within bounds.
#include "libr1/text/json/number_scan.hpp"

namespace r1::text::json {
namespace {

// Whether the digits so far, with none or more to follow, reach into [low, high].
bool can_reach(const Number& number, const Frame& frame) {
  if (!number.integer) return true;
  std::int64_t first = frame.value;
  std::int64_t last = frame.value;
  for (std::uint32_t digits = frame.count;; ++digits) {
    const std::int64_t low = frame.negative ? -last : first;
    const std::int64_t high = frame.negative ? -first : last;
    if (low <= number.high && high >= number.low) return true;
    if (digits >= kDigitsMax || frame.value == 0) return false;
    first *= 10;
    last = last * 10 + 9;
  }
}

bool take_digit(Frame& frame, std::uint32_t digits_max, std::uint8_t byte, Phase phase) {
  if (byte < '0' || byte > '9') return false;
  if (frame.phase != phase) frame.count = 0;
  if (frame.count == digits_max) return false;
  frame.phase = phase;
  ++frame.count;
  return true;
}

bool take_whole(const Number& number, Frame& frame, std::uint8_t byte) {
  if (!take_digit(frame, kDigitsMax, byte, Phase::whole)) return false;
  if (byte == '0' && frame.count == 1) frame.phase = Phase::zero;
  frame.value = frame.value * 10 + (byte - '0');
  return can_reach(number, frame);
}

bool take_exponent(Frame& frame, std::uint8_t byte) {
  if (byte != 'e' && byte != 'E') return false;
  frame.phase = Phase::e;
  return true;
}

bool take_point(Frame& frame, std::uint8_t byte) {
  if (byte != '.') return false;
  frame.phase = Phase::point;
  return true;
}

}  // namespace

bool advance(const Number& number, Frame& frame, std::uint8_t byte) noexcept {
  switch (frame.phase) {
    case Phase::start:
      if (byte == '-' && number.low < 0) {
        frame.phase = Phase::minus;
        frame.negative = true;
        return true;
      }
      return take_whole(number, frame, byte);
    case Phase::minus:
      return take_whole(number, frame, byte);
    case Phase::zero:
      return !number.integer && (take_point(frame, byte) || take_exponent(frame, byte));
    case Phase::whole:
      if (number.integer) return take_whole(number, frame, byte);
      return take_whole(number, frame, byte) || take_point(frame, byte) ||
             take_exponent(frame, byte);
    case Phase::point:
      return take_digit(frame, kDigitsMax, byte, Phase::fraction);
    case Phase::fraction:
      return take_digit(frame, kDigitsMax, byte, Phase::fraction) || take_exponent(frame, byte);
    case Phase::e:
      if (byte == '+' || byte == '-') {
        frame.phase = Phase::e_sign;
        return true;
      }
      return take_digit(frame, kExponentDigitsMax, byte, Phase::exponent);
    case Phase::e_sign:
    case Phase::exponent:
      return take_digit(frame, kExponentDigitsMax, byte, Phase::exponent);
    default:
      return false;
  }
}

bool is_whole(const Number& number, const Frame& frame) noexcept {
  switch (frame.phase) {
    case Phase::zero:
    case Phase::whole: {
      const std::int64_t value = frame.negative ? -frame.value : frame.value;
      return !number.integer || (value >= number.low && value <= number.high);
    }
    case Phase::fraction:
    case Phase::exponent:
      return true;
    default:
      return false;
  }
}

}  // namespace r1::text::json
