// Tables and suffixes; numbers themselves are read by tools/command_line/numbers.
#include "tools/r1-generate/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "tools/command_line/numbers.hpp"
#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr double kSecondsMax = 1e6;

using r1::KvType;
constexpr std::array<std::pair<std::string_view, KvType>, 10> kKvTypes = {{
    {"f32", KvType::f32},
    {"f16", KvType::f16},
    {"q8", KvType::q8},
    {"bf16", KvType::f16},
    {"q8_0", KvType::q8},
    {"q5_1", KvType::q8},
    {"q5_0", KvType::q8},
    {"iq4_nl", KvType::q8},
    {"q4_1", KvType::q8},
    {"q4_0", KvType::q8},
}};

constexpr std::array<std::pair<std::string_view, int>, 6> kUnits = {
    {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"K", 10}, {"M", 20}, {"G", 30}}};

}  // namespace

r1::KvType parse_kv_type(std::string_view option, std::string_view text) {
  const auto* const row = std::find_if(kKvTypes.begin(), kKvTypes.end(),
                                       [&](const auto& entry) { return entry.first == text; });
  if (row != kKvTypes.end()) return row->second;
  throw UsageError(fmt::format("{}: expected f32, f16 or q8, got '{}'", option, text));
}

std::int64_t parse_bytes(std::string_view option, std::string_view text) {
  std::string_view number = text;
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!number.ends_with(unit)) continue;
    number.remove_suffix(unit.size());
    shift = bits;
    break;
  }
  try {
    return parse_integer(option, number, 1, kInt64Max >> shift) << shift;
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{}: expected a size such as 512M or 2G, got '{}'", option, text));
  }
}

void parse_think_budget(std::string_view option, std::string_view text,
                        r1::GenerationOptions& options) {
  try {
    if (text.ends_with('s')) {
      options.think_budget_seconds =
          parse_number(option, text.substr(0, text.size() - 1), 0, kSecondsMax);
    } else {
      options.think_budget_tokens = parse_integer(option, text, 0, kInt64Max);
    }
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{}: expected tokens such as 512 or seconds such as 30s, got '{}'",
                                 option, text));
  }
}

std::string read_schema(std::string_view option, const std::string& text) {
  if (text.starts_with('{')) return text;
  std::ifstream file(text, std::ios::binary);
  std::string schema{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || schema.empty()) {
    throw UsageError(
        fmt::format("{}: expected a schema or a file that holds one, got '{}'", option, text));
  }
  return schema;
}

}  // namespace r1_tools
