// What is said about a generation and about the program: the JSON object, the summary, the version.
#pragma once

#include <optional>
#include <string>

#include "r1/engine.hpp"
#include "r1/generation.hpp"

namespace r1_tools {

/// The object of --json, one line without its newline. Always valid JSON: bytes that are not UTF-8
/// become U+FFFD.
std::string json_report(const r1::Generation& generation, const r1::Engine& engine);

/// One line for people: counts, speeds, times, how it ended if not by itself, and the seed when
/// tokens were drawn.
std::string summary_line(const r1::Generation& generation, bool is_drawn);

/// What --verbose says about a loaded model and how it runs, several lines.
std::string engine_description(const r1::Engine& engine);

/// How a chat introduces itself: the model, and how it runs; two lines.
std::string banner(const r1::Engine& engine);

/// A line for runs that go against the advice of R1's authors; empty when there is nothing to say.
/// A value that the model file itself sets is never complained about.
std::string advice_line(const r1::Model& model, const r1::SamplingOptions& sampling,
                        bool has_system);

}  // namespace r1_tools
