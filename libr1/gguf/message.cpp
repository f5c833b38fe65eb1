// Escaping and naming for error lines.
#include "libr1/gguf/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace r1::gguf {
namespace {

constexpr std::size_t kQuotedBytesMax = 80;

}  // namespace

std::string quote_name(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, kQuotedBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '\\' || c == '\'') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
    } else {
      out += c;
    }
  }
  out += name.size() > kQuotedBytesMax ? "...'" : "'";
  return out;
}

std::string type_name(ValueType type) {
  static constexpr std::array<const char*, 13> kNames = {
      "uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
      "bool",  "string", "array",  "uint64", "int64",  "float64"};
  const auto index = static_cast<std::uint32_t>(type);
  if (index >= kNames.size()) return fmt::format("type {}", index);
  return kNames[index];
}

std::string listed(const std::vector<std::string>& items, std::size_t shown) {
  std::string out;
  const std::size_t count = std::min(items.size(), shown);
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > count) out += fmt::format(" and {} more", items.size() - count);
  return out;
}

}  // namespace r1::gguf
