// r1-generate as its tests call it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "r1/tokenizer.hpp"
#include "tests/support/process.hpp"
#include "tests/support/tiny_r1.hpp"

namespace r1::e2e {

/// A problem that tiny-r1 solves: 23 chickens and 12 rabbits.
inline constexpr const char* kChickens = "鸡兔同笼，共35个头，94只脚，问鸡兔各几只？";

/// Runs the built r1-generate.
support::ProcessResult generate(std::vector<std::string> arguments,
                                const support::ProcessOptions& options = {});

/// Runs it with --json added and reads the object. Fails the test unless the exit code is 0.
nlohmann::json generate_json(std::vector<std::string> arguments);

/// Path of the program and `arguments`.
std::vector<std::string> command(std::vector<std::string> arguments);

/// Token ids of the reference prompt whose only message is kChickens, and what follows it greedily.
support::ReferenceCase chickens_reference();

/// Number of lines in `text`.
std::size_t line_count(const std::string& text);

/// True when `text` contains `part`.
bool contains(const std::string& text, const std::string& part);

}  // namespace r1::e2e
