// Values of options that are no plain numbers: KV types, sizes of memory, thinking budgets,
// schemas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "r1/engine.hpp"
#include "r1/generation.hpp"

namespace r1_tools {

/// "f32", "f16" or "q8", and llama.cpp's names: "q8_0" is q8, "bf16" is f16; the types smaller than
/// q8 that it has become q8, the smallest there is. Throws UsageError.
r1::KvType parse_kv_type(std::string_view option, std::string_view text);

/// A size above 0: bytes, or with K, M, G (also KiB, MiB, GiB) times 1024, 1024^2, 1024^3. Throws
/// UsageError.
std::int64_t parse_bytes(std::string_view option, std::string_view text);

/// "512": tokens; "30s": seconds. Sets the budget in `options`. Throws UsageError.
void parse_think_budget(std::string_view option, std::string_view text,
                        r1::GenerationOptions& options);

/// A JSON Schema: `text` itself when it begins with a brace, else the file of that name. Throws
/// UsageError when the file cannot be read.
std::string read_schema(std::string_view option, const std::string& text);

}  // namespace r1_tools
