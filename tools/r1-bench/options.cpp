// The options of r1-bench and its two commands.
#include "tools/r1-bench/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "tools/command_line/numbers.hpp"
#include "tools/command_line/option_set.hpp"
#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

constexpr std::int64_t kTokensMax = std::int64_t{1} << 29;
constexpr std::int64_t kThreadsMax = 1024;
constexpr std::int64_t kBatchMax = 512;
constexpr std::int64_t kRepetitionsMax = 1000;

constexpr std::string_view kUsage =
    "Usage: r1-bench roofline [OPTIONS]\n"
    "       r1-bench model (-m FILE | --synthetic SHAPE) [OPTIONS]\n"
    "\n"
    "roofline  measures what this machine can do: reading memory, multiplying, one\n"
    "          barrier of its threads.\n"
    "model     measures a model: loading, prompts (prefill), generation (decode) at\n"
    "          some depth and for several sequences at once, each as a share of what\n"
    "          this machine can do. Needs no download with --synthetic.\n"
    "\n"
    "r1-bench COMMAND --help lists the options of a command.\n";

constexpr std::string_view kRooflineUsage =
    "Usage: r1-bench roofline [OPTIONS]\n"
    "\n"
    "Measures what this machine can do with the threads that will run. Takes about\n"
    "12 seconds.\n";

constexpr std::string_view kModelUsage =
    "Usage: r1-bench model (-m FILE | --synthetic SHAPE) [OPTIONS]\n"
    "\n"
    "Measures a model: loading, prompts (prefill), generation (decode), each as a\n"
    "share of what this machine can do, which is measured before and after.\n";

constexpr std::string_view kModelExamples =
    "\nExamples:\n"
    "  r1-bench model --synthetic r1-1.5b --type Q4_K_M\n"
    "  r1-bench model -m model.gguf -p 32,128,512,2048 -n 64 -d 0,2048,8192\n"
    "  r1-bench model -m model.gguf -p 0 --batch 1,2,4,8,16 -o md\n"
    "  r1-bench model --synthetic r1-7b --type Q8_0 --save r1-7b-Q8_0.gguf\n";

Format parse_format(const std::string& text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  if (text == "md") return Format::markdown;
  throw UsageError(fmt::format("--output: expected table, json, csv or md, got '{}'", text));
}

/// Declares options that fill an Options.
class Declaration {
 public:
  Declaration(OptionSet& set, Options& options) : set_(set), options_(options) {}

  void declare_roofline() {
    declare_machine();
    declare_output(kRooflineUsage, "");
  }

  void declare_model() {
    declare_what();
    declare_tests();
    declare_machine();
    declare_output(kModelUsage, kModelExamples);
  }

 private:
  void list(const std::string& names, const std::string& description, std::int64_t min,
            std::int64_t max, std::vector<std::int64_t>& target) {
    const std::string name = OptionSet::long_name(names);
    set_.value(names, "LIST", description, [=, &target](const std::string& text) {
      target = parse_integers(name, text, min, max);
    });
  }

  r1::SyntheticOptions& synthetic() {
    if (!options_.synthetic) options_.synthetic.emplace().shape.clear();
    return *options_.synthetic;
  }

  void declare_what();
  void declare_tests();
  void declare_machine();
  void declare_output(std::string_view usage, std::string_view examples);

  OptionSet& set_;
  Options& options_;
};

void Declaration::declare_what() {
  set_.group("Model");
  set_.value("-m,--model", "FILE", "GGUF file, or any part of a split one",
             [this](const std::string& text) {
               if (text.empty()) throw UsageError("--model: expected a file name, got ''");
               options_.model_path = text;
             });
  const auto known = r1::synthetic_shapes();
  set_.value("--synthetic", "SHAPE",
             fmt::format("a model of that shape with made-up weights: {}", fmt::join(known, ", ")),
             [this, known](const std::string& text) {
               if (std::find(known.begin(), known.end(), text) == known.end()) {
                 throw UsageError(fmt::format("--synthetic: expected one of {}, got '{}'",
                                              fmt::join(known, ", "), text));
               }
               synthetic().shape = text;
             });
  const auto types = r1::synthetic_types();
  set_.value("--type", "TYPE", "weight type of --synthetic, such as Q4_K_M (default), Q8_0, F16",
             [this, types](const std::string& text) {
               if (std::find(types.begin(), types.end(), text) == types.end()) {
                 throw UsageError(fmt::format("--type: expected one of {}, got '{}'",
                                              fmt::join(types, ", "), text));
               }
               synthetic().type = text;
             });
  set_.flag("--huge-pages",
            "weights and KV cache on huge pages that the administrator has set aside",
            [this] { options_.load.huge_pages = true; });
  set_.value("--save", "FILE", "write the model of --synthetic as a GGUF file, and end",
             [this](const std::string& text) {
               if (text.empty()) throw UsageError("--save: expected a file name, got ''");
               options_.save_path = text;
             });
}

void Declaration::declare_tests() {
  set_.group("Tests (each -p and --batch at each -d)");
  list("-p,--n-prompt", "prompts of so many tokens, 0 for none (default: 512)", 0, kTokensMax,
       options_.prompts);
  set_.integer("-n,--n-gen", "tokens that are generated, 0 for none (default: 64)", 0, kTokensMax,
               [this](std::int64_t n) { options_.generate = n; });
  list("-d,--depth", "so many tokens are in the cache before the test begins (default: 0)", 0,
       kTokensMax, options_.depths);
  list("--batch", "sequences that generate at once (default: 1)", 1, kBatchMax, options_.batches);
  set_.integer("-r,--repetitions", "how often each test runs (default: 3)", 1, kRepetitionsMax,
               [this](std::int64_t n) { options_.repetitions = static_cast<int>(n); });
  set_.flag("--stages", "where the time of a step goes: attention, gate and up, down, output",
            [this] { options_.stages = true; });
}

void Declaration::declare_machine() {
  set_.group("Machine");
  set_.integer("-t,--threads", "threads (default: physical cores this process may use)", -1,
               kThreadsMax, [this](std::int64_t n) {
                 const int threads = static_cast<int>(n < 0 ? 0 : n);
                 options_.engine.threads = threads;
                 options_.load.threads = threads;
               });
  set_.integer(
      "--threads-batch", "threads that read prompts; also -tb (default: as -t)", -1, kThreadsMax,
      [this](std::int64_t n) { options_.engine.threads_batch = static_cast<int>(n < 0 ? 0 : n); });
  set_.value("--isa", "TIER", "instruction tier, see --version (default: the best this CPU has)",
             [this](const std::string& text) { options_.engine.isa = text; });
  set_.value("--limit-seconds", "X",
             "length of one of the five rounds of reading memory (default: 1); with 0 a model's "
             "run leaves the limits out",
             [this](const std::string& text) {
               const float seconds = parse_number("--limit-seconds", text, 0, 60);
               options_.measure_limits = seconds > 0;
               if (seconds > 0) options_.limits.seconds = static_cast<double>(seconds);
             });
  // For tests: a small buffer lies in a cache, and what it gives is no limit.
  set_.integer("--limit-mib", "", 1, std::int64_t{1} << 20,
               [this](std::int64_t n) { options_.limits.buffer_bytes = n << 20; });
}

void Declaration::declare_output(std::string_view usage, std::string_view examples) {
  set_.group("Output");
  set_.value("-o,--output", "FORMAT", "table (default), json, csv or md",
             [this](const std::string& text) { options_.format = parse_format(text); });
  set_.flag("-h,--help", "this text", [this, usage, examples] {
    options_.command = Command::help;
    options_.help = set_.help(usage, examples);
  });
}

void check_combinations(const Options& options) {
  const bool has_shape = options.synthetic && !options.synthetic->shape.empty();
  if (options.synthetic && !has_shape) {
    throw UsageError("--type: only a model of --synthetic has a type to choose");
  }
  if (options.model_path.empty() == !has_shape) {
    throw UsageError(has_shape ? "--synthetic: expected either it or --model, got both"
                               : "model: expected --model FILE or --synthetic SHAPE, got neither");
  }
  if (!options.save_path.empty() && !has_shape) {
    throw UsageError("--save: only a model of --synthetic can be written");
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  options.help = kUsage;
  if (arguments.empty()) throw UsageError("expected a command, roofline or model; see --help");
  const std::string& command = arguments.front();
  if (command == "-h" || command == "--help" || command == "help") return options;
  if (command == "--version") {
    options.command = Command::version;
    return options;
  }
  OptionSet set("expected options only; see --help");
  Declaration declaration(set, options);  // what it declares refers to it while parsing
  if (command == "roofline") {
    options.command = Command::roofline;
    declaration.declare_roofline();
  } else if (command == "model") {
    options.command = Command::model;
    declaration.declare_model();
  } else {
    throw UsageError(fmt::format("expected the command roofline or model, got '{}'", command));
  }
  set.parse({arguments.begin() + 1, arguments.end()});
  if (options.command == Command::model) check_combinations(options);
  if (options.command == Command::roofline && !options.measure_limits) {
    throw UsageError("--limit-seconds: expected more than 0, got '0'");
  }
  options.limits.threads = options.engine.threads;
  options.limits.threads_batch = options.engine.threads_batch;
  options.limits.isa = options.engine.isa;
  return options;
}

}  // namespace r1_tools
