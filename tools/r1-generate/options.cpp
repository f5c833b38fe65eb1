// The options of r1-generate and how CLI11 reads them. Values arrive as text and are read by
// numbers.hpp: CLI11 would take "010" for eight and "[a]" for a list.
#include "tools/r1-generate/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>

#include "tools/r1-generate/help.hpp"
#include "tools/r1-generate/numbers.hpp"
#include "tools/r1-generate/rewrite.hpp"
#include "tools/r1-generate/usage_error.hpp"

namespace r1_tools {
namespace {

constexpr std::int64_t kTokensMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kThreadsMax = 4096;
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

/// Declares options on a CLI::App that fill an Options.
class Declaration {
 public:
  Declaration(CLI::App& app, Options& options) : app_(app), options_(options) {}

  /// All options, in the order of --help.
  void declare();

 private:
  using Setter = std::function<void(const std::string& text)>;

  /// An option with one value; given twice, the last one counts.
  CLI::Option* value(const std::string& names, const std::string& type,
                     const std::string& description, const Setter& set) {
    return app_.add_option_function<std::string>(names, set, description)
        ->type_name(type)
        ->type_size(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->group(group_);
  }
  /// An option that may be given several times, one value each.
  void values(const std::string& names, const std::string& type, const std::string& description,
              const Setter& set) {
    app_.add_option_function<std::vector<std::string>>(
            names,
            [set](const auto& texts) {
              for (const auto& text : texts) set(text);
            },
            description)
        ->type_name(type)
        ->take_all()
        ->allow_extra_args(false)
        ->group(group_);
  }
  void integer(const std::string& names, const std::string& description, std::int64_t min,
               std::int64_t max, const std::function<void(std::int64_t)>& set) {
    const std::string name = long_name(names);
    value(names, "N", description,
          [=](const std::string& text) { set(parse_integer(name, text, min, max)); });
  }
  void number(const std::string& names, const std::string& description, double min, double max,
              std::optional<float>& target) {
    const std::string name = long_name(names);
    value(names, "X", description, [name, min, max, &target](const std::string& text) {
      target = parse_number(name, text, min, max);
    });
  }
  void flag(const std::string& names, const std::string& description,
            const std::function<void()>& set) {
    app_.add_flag_function(
            names, [set](std::int64_t) { set(); }, description)
        ->disable_flag_override()
        ->group(group_);
  }
  /// Options of other engines that mean nothing here; each has one value.
  void without_use(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      value(name, "V", "",
            [this, name](const std::string&) { options_.without_use.push_back(long_name(name)); });
    }
  }
  /// The name that error messages use: the first long one.
  static std::string long_name(const std::string& names) {
    const std::size_t begin = names.find("--");
    return names.substr(begin, names.find(',', begin) - begin);
  }

  void declare_input();
  void declare_output();
  void declare_sampling();
  void declare_machine();
  void declare_other();

  CLI::App& app_;
  Options& options_;
  std::string group_;
};

void Declaration::declare_input() {
  group_ = "Input";
  const Setter set_prompt = [this](const std::string& text) {
    if (options_.prompt)
      throw UsageError("more than one prompt: expected either PROMPT or --prompt");
    options_.prompt = text;
  };
  value("PROMPT", "", "the question, in quotes; taken as it is, \\n stays two characters",
        set_prompt);
  value("-p,--prompt", "TEXT", "the same, for text that starts with a dash", set_prompt)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  value("-f,--file,--prompt-file", "FILE",
        "read the prompt from a file (UTF-8); - is standard input, which is also read when "
        "there is no prompt. One newline at the end is dropped",
        [this](const std::string& text) {
          if (text.empty()) throw UsageError("--file: expected a file name, got ''");
          options_.prompt_file = text;
        });
  value("--system,--system-prompt", "TEXT", "system prompt; R1's authors advise against one",
        [this](const std::string& text) { options_.system = text; });
  flag("--cot", "add DeepSeek's advice for maths to the prompt, in its language",
       [this] { options_.cot = true; });
  flag("-e,--escape", "process \\n \\t \\r \\\\ \\\" \\' \\xHH in PROMPT, -p, --system and --stop",
       [this] { options_.escape = true; });
  flag("--no-escape", "", [this] { options_.escape = false; });
  flag("--raw", "complete the prompt as it is, without the chat template",
       [this] { options_.raw = true; });
  flag("--special", "with --raw: recognise tokens like <think> in the prompt",
       [this] { options_.special = true; });
  flag("--no-conversation", "", [this] { options_.raw = options_.special = true; });
  flag("--conversation,-i,--interactive", "", [this] { options_.chat = true; });
}

void Declaration::declare_output() {
  group_ = "Output";
  value("--think", "MODE",
        "show, hide or only: what becomes of the thought (default: show on a terminal, hide in "
        "a pipe)",
        [this](const std::string& text) {
          if (text == "show") {
            options_.think = ThinkMode::show;
          } else if (text == "hide") {
            options_.think = ThinkMode::hide;
          } else if (text == "only") {
            options_.think = ThinkMode::only;
          } else {
            throw UsageError(fmt::format("--think: expected show, hide or only, got '{}'", text));
          }
        });
  integer("-n,--max-tokens,--n-predict,--predict",
          "generate at most N tokens, the thought included; 0: none (default: -1, until the end "
          "of the answer or the context)",
          -2, kTokensMax,
          [this](std::int64_t n) { options_.generation.max_tokens = n < 0 ? -1 : n; });
  values("--stop,-r,--reverse-prompt", "TEXT",
         "end the answer before this text; may be given several times",
         [this](const std::string& text) {
           if (text.empty()) throw UsageError("--stop: expected at least one character, got ''");
           options_.generation.stop.push_back(text);
         });
  flag("--ignore-eos", "go on after the end of the answer",
       [this] { options_.generation.ignore_eos = true; });
  flag("--json", "print one JSON object at the end: text, reasoning, token ids, timings",
       [this] { options_.json = true; });
  flag("-q,--quiet", "the answer and errors, nothing else", [this] { options_.quiet = true; });
  flag("--verbose,-v",
       "say what was loaded and how it runs; in a chat also the numbers of each answer",
       [this] { options_.verbose = true; });
  // Both describe what happens here anyway: colour depends on the terminal, the prompt is not
  // echoed.
  flag("--color,--no-display-prompt,--jinja,--single-turn", "", [] {});
}

void Declaration::declare_sampling() {
  r1::SamplingOptions& sampling = options_.generation.sampling;
  group_ = "Sampling (default: what the model file says, else what its authors advise)";
  number("--temp,--temperature", "temperature, 0 to 100; 0: always the likeliest token", 0, 100,
         sampling.temperature);
  integer("--top-k", "draw from the K likeliest tokens; 0: off", -1, kInt64Max,
          [&sampling](std::int64_t n) { sampling.top_k = n; });
  number("--top-p", "draw from the likeliest tokens that make up P; 1: off", 0, 1, sampling.top_p);
  number("--min-p", "drop tokens less likely than P times the likeliest; 0: off", 0, 1,
         sampling.min_p);
  value("-s,--seed", "N", "seed of the draws; -1: random (default)",
        [&sampling](const std::string& text) { sampling.seed = parse_seed("--seed", text); });
  value("--repeat-penalty", "X", "make repeated tokens less likely; 1: off",
        [&sampling](const std::string& text) {
          const float penalty = parse_number("--repeat-penalty", text, 0, 100);
          if (penalty == 0) throw UsageError("--repeat-penalty: expected more than 0, got '0'");
          sampling.repeat_penalty = penalty;
        });
  integer("--repeat-last-n", "tokens that the penalties look back at; 0: off, -1: all", -1,
          kTokensMax, [&sampling](std::int64_t n) { sampling.repeat_last_n = n; });
  number("--presence-penalty", "penalty on tokens that have come; 0: off", -100, 100,
         sampling.presence_penalty);
  number("--frequency-penalty", "penalty for each time that a token has come; 0: off", -100, 100,
         sampling.frequency_penalty);
  values("-l,--logit-bias", "ID=BIAS",
         "add BIAS to the logit of token ID; may be given several times",
         [&sampling](const std::string& text) {
           sampling.logit_bias.push_back(parse_logit_bias("--logit-bias", text));
         });
}

void Declaration::declare_machine() {
  group_ = "Model and machine";
  value("-m,--model", "FILE", "GGUF file, or any part of a split one (default: the demo model)",
        [this](const std::string& text) {
          if (text.empty()) throw UsageError("--model: expected a file name, got ''");
          options_.model_path = text;
        });
  integer("-t,--threads", "threads (default: physical cores this process may use)", -1, kThreadsMax,
          [this](std::int64_t n) {
            options_.engine.threads = options_.load.threads = static_cast<int>(n < 0 ? 0 : n);
          });
  integer(
      "--threads-batch", "threads that read the prompt; also -tb (default: as -t)", -1, kThreadsMax,
      [this](std::int64_t n) { options_.engine.threads_batch = static_cast<int>(n < 0 ? 0 : n); });
  integer("-c,--ctx-size",
          "longest conversation in tokens (default: 0, what the model was trained for, at most "
          "32768). Memory is taken as it is used",
          0, kTokensMax, [this](std::int64_t n) { options_.engine.kv_tokens = n; });
  integer("-b,--batch-size", "tokens of the prompt that are read in one go (default: 512)", 1,
          kTokensMax, [this](std::int64_t n) { options_.engine.batch_size = n; });
  value("--isa", "TIER", "instruction tier, see --version (default: the best this CPU has)",
        [this](const std::string& text) { options_.engine.isa = text; });
  flag("--mmap", "map the model file (default)", [this] { options_.load.use_mmap = true; });
  flag("--no-mmap", "read the model file", [this] { options_.load.use_mmap = false; });
  flag("--mlock", "keep the weights from being swapped out",
       [this] { options_.load.lock_memory = true; });
}

void Declaration::declare_other() {
  group_ = "Other";
  flag("-h,--help", "this text", [this] { options_.help = help_text(app_); });
  flag("--version", "version, instruction tiers and compiler", [this] { options_.version = true; });
  group_ = "Accepted, without any effect here";
  value("--numa", "V", "placement over NUMA nodes",
        [this](const std::string&) { options_.without_use.emplace_back("--numa"); });
  flag("--low-vram", "for graphics cards; this program uses none",
       [this] { options_.without_use.emplace_back("--low-vram"); });
  for (const char* name : {"--flash-attn", "--no-warmup"}) {
    flag(name, "", [this, name] { options_.without_use.emplace_back(name); });
  }
  without_use({"--ubatch-size", "--cache-type-k", "--cache-type-v", "--n-gpu-layers,--gpu-layers",
               "--prio"});
}

void Declaration::declare() {
  declare_input();
  declare_output();
  declare_sampling();
  declare_machine();
  declare_other();
}

/// CLI11's complaint in this tool's words. `app` is the parser that made it.
[[noreturn]] void throw_usage_error(const CLI::ParseError& error, const CLI::App& app) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string first = app.remaining().front();
    if (first.starts_with("-")) {
      throw UsageError(fmt::format("unknown option {} (--help lists all)", first));
    }
    throw UsageError(fmt::format("unexpected '{}': expected one prompt, in quotes", first));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = what.substr(0, what.find(':'));
    if (what.find("missing") != std::string::npos) {
      throw UsageError(name + ": expected a value, got none");
    }
    if (what.find("At Most") != std::string::npos) {
      throw UsageError(name + ": expected it once, got it several times");
    }
    if (what.find("override") != std::string::npos) {
      throw UsageError("--" + what.substr(0, what.find(' ')) + ": expected no value, got one");
    }
  }
  throw UsageError(what);
}

void check_combinations(const Options& options) {
  if (options.prompt && !options.prompt_file.empty()) {
    throw UsageError("more than one prompt: expected either text or --file");
  }
  if (options.raw && options.system) {
    throw UsageError("--system: needs the chat template, which --raw leaves out");
  }
  if (options.raw && options.cot) {
    throw UsageError("--cot: needs the chat template, which --raw leaves out");
  }
  if (options.raw && options.chat) {
    throw UsageError("--interactive: a chat needs the chat template, which --raw leaves out");
  }
  if (options.special && !options.raw) {
    throw UsageError("--special: only a prompt given with --raw may hold special tokens");
  }
  if (options.json && options.chat) {
    throw UsageError("--json: expected one prompt, got a chat");
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app;
  app.set_help_flag();
  Declaration declaration(app, options);  // what it declares refers to it while parsing
  declaration.declare();

  const auto takes_value = [&app](std::string_view name) {
    const CLI::Option* option =
        name.starts_with("-") ? app.get_option_no_throw(std::string(name)) : nullptr;
    return option != nullptr && option->get_items_expected_max() > 0;
  };
  std::vector<std::string> rewritten = rewrite_arguments(arguments, takes_value);
  try {
    // CLI11 takes the arguments last one first.
    std::vector<std::string> reversed(rewritten.rbegin(), rewritten.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    throw_usage_error(error, app);
  }
  check_combinations(options);
  return options;
}

}  // namespace r1_tools
