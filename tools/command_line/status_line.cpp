// Draws a plain ASCII bar, so that it also looks right under LANG=C.
#include "tools/command_line/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line/console.hpp"

namespace r1_tools {
namespace {

constexpr auto kSilence = std::chrono::milliseconds(500);
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr std::size_t kBarWidth = 30;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

void StatusLine::begin(std::string_view label) {
  const std::lock_guard lock(mutex_);
  label_ = label;
  begin_ = Clock::now();
  drawn_ = begin_;
}

bool StatusLine::is_due(Clock::time_point now) {
  if (!enabled_ || label_.empty() || now - begin_ < kSilence || now - drawn_ < kRedraw)
    return false;
  drawn_ = now;
  return true;
}

void StatusLine::draw(std::string_view text) {
  visible_ = true;
  write_err(fmt::format("{}{}", kEraseLine, text));
}

void StatusLine::progress(double fraction) {
  const std::lock_guard lock(mutex_);
  if (!is_due(Clock::now())) return;
  const double share = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(share * kBarWidth);
  draw(fmt::format("{} [{}{}] {:.0f} %", label_, std::string(full, '#'),
                   std::string(kBarWidth - full, '-'), share * 100));
}

void StatusLine::tick() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (!is_due(now)) return;
  const std::chrono::duration<double> seconds = now - begin_;
  draw(fmt::format("{} {:.0f} s", label_, seconds.count()));
}

void StatusLine::erase() {
  if (visible_) write_err(kEraseLine);
  visible_ = false;
}

void StatusLine::hide() {
  const std::lock_guard lock(mutex_);
  erase();
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  label_.clear();
  erase();
}

}  // namespace r1_tools
