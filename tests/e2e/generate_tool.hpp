// r1-generate as its tests call it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "r1/tokenizer.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_r1.hpp"

namespace r1::e2e {

/// A problem that tiny-r1 solves: 23 chickens and 12 rabbits.
inline constexpr const char* kChickens = "鸡兔同笼，共35个头，94只脚，问鸡兔各几只？";

/// Options with which an answer goes on for minutes, so that a test can act in the middle of it
/// however slow the test itself is. The model's own 2048 positions are over in half a second.
inline const std::vector<std::string> kEndless = {"--ignore-eos", "-c", "500000"};

/// Runs the built r1-generate.
support::ProcessResult generate(std::vector<std::string> arguments,
                                const support::ProcessOptions& options = {});

/// Runs it with --json added and reads the object. Fails the test unless the exit code is 0.
nlohmann::json generate_json(std::vector<std::string> arguments);

/// `first` and `second`, one after the other.
std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second);

/// Path of the program and `arguments`.
std::vector<std::string> command(std::vector<std::string> arguments);

/// Token ids of the reference prompt whose only message is kChickens, and what follows it greedily.
support::ReferenceCase chickens_reference();

/// Writes a model's image into the folder; the path.
std::string write_model(const testing::TempFolder& folder, const std::string& name,
                        const std::vector<std::byte>& image);

/// Number of lines in `text`.
std::size_t line_count(const std::string& text);

/// True when `text` contains `part`.
bool contains(const std::string& text, const std::string& part);

}  // namespace r1::e2e
