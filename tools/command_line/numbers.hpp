// Numbers on the command line. Read by std::from_chars, so that a locale with a decimal comma
// changes nothing, "010" is ten, and what is left over after a number is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1_tools {

/// An integer of `option` in [min, max]. Throws UsageError.
std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t min,
                           std::int64_t max);

/// Integers of `option` in [min, max], separated by commas; at least one. Throws UsageError.
std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         std::int64_t min, std::int64_t max);

/// A finite number of `option` in [min, max]. Throws UsageError.
float parse_number(std::string_view option, std::string_view text, double min, double max);

/// A seed: any value of 64 bits; negative means that one is drawn at random. Throws UsageError.
std::optional<std::uint64_t> parse_seed(std::string_view option, std::string_view text);

/// A bias on one token: "ID=BIAS", or as llama.cpp writes it "ID+BIAS" and "ID-BIAS"; the bias in
/// [-1e30, 1e30]. Throws UsageError.
std::pair<r1::TokenId, float> parse_logit_bias(std::string_view option, std::string_view text);

}  // namespace r1_tools
