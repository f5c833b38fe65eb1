// The options of r1-generate: their names, what --help says of them, and which exclude each other.
#include "tools/r1-generate/options.hpp"

#include <fmt/format.h>

#include <functional>
#include <limits>

#include "tools/command_line/numbers.hpp"
#include "tools/command_line/option_set.hpp"
#include "tools/command_line/usage_error.hpp"
#include "tools/r1-generate/values.hpp"

namespace r1_tools {
namespace {

constexpr std::int64_t kTokensMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kThreadsMax = 4096;
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kUsage =
    "Usage: r1-generate [OPTIONS] [PROMPT]\n"
    "\n"
    "Answers one prompt with a reasoning model in GGUF form, or chats when there is\n"
    "no prompt and standard input is a terminal. Without -m a tiny demo model inside\n"
    "this program answers: it knows problems like chickens and rabbits in one cage.\n";

constexpr std::string_view kExamples =
    "\nExamples:\n"
    "  r1-generate \"鸡兔同笼，共35个头，94只脚，问鸡兔各几只？\"\n"
    "  r1-generate -m DeepSeek-R1-Distill-Qwen-1.5B-Q4_K_M.gguf --cot \"1+2+...+100?\"\n"
    "  r1-generate -m model.gguf -f question.txt --think show > answer.txt\n"
    "  r1-generate -m model.gguf --json \"Hello\" | jq -r .reasoning\n"
    "  r1-generate -m model.gguf            (chat; /help there lists the commands)\n";

/// Declares options that fill an Options.
class Declaration {
 public:
  Declaration(OptionSet& set, Options& options) : set_(set), options_(options) {}

  /// All options, in the order of --help.
  void declare();

 private:
  /// Options of other engines that mean nothing here; each has one value.
  void without_use(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      set_.value(name, "V", "", [this, name](const std::string&) {
        options_.without_use.push_back(OptionSet::long_name(name));
      });
    }
  }
  void declare_input();
  void declare_output();
  void declare_sampling();
  void declare_machine();
  void declare_other();

  OptionSet& set_;
  Options& options_;
};

void Declaration::declare_input() {
  set_.group("Input");
  const OptionSet::Setter set_prompt = [this](const std::string& text) {
    if (options_.prompt)
      throw UsageError("more than one prompt: expected either PROMPT or --prompt");
    options_.prompt = text;
  };
  set_.value("PROMPT", "", "the question, in quotes; taken as it is, \\n stays two characters",
             set_prompt);
  set_.value_once("-p,--prompt", "TEXT", "the same, for text that starts with a dash", set_prompt);
  set_.value("-f,--file,--prompt-file", "FILE",
             "read the prompt from a file (UTF-8); - is standard input, which is also read when "
             "there is no prompt. One newline at the end is dropped",
             [this](const std::string& text) {
               if (text.empty()) throw UsageError("--file: expected a file name, got ''");
               options_.prompt_file = text;
             });
  set_.value("--system,--system-prompt", "TEXT", "system prompt; R1's authors advise against one",
             [this](const std::string& text) { options_.system = text; });
  set_.flag("--cot", "add DeepSeek's advice for maths to the prompt, in its language",
            [this] { options_.cot = true; });
  set_.flag("-e,--escape",
            "process \\n \\t \\r \\\\ \\\" \\' \\xHH in PROMPT, -p, --system and --stop",
            [this] { options_.escape = true; });
  set_.flag("--no-escape", "", [this] { options_.escape = false; });
  set_.flag("--raw", "complete the prompt as it is, without the chat template",
            [this] { options_.raw = true; });
  set_.flag("--special", "with --raw: recognise tokens like <think> in the prompt",
            [this] { options_.special = true; });
  set_.flag("--no-conversation", "", [this] { options_.raw = options_.special = true; });
  set_.flag("--conversation,-i,--interactive", "", [this] { options_.chat = true; });
}

void Declaration::declare_output() {
  set_.group("Output");
  set_.value(
      "--think", "MODE",
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
  set_.value(
      "--think-budget", "N|Ns",
      "end the thought after N tokens, or N seconds, with its sentence, and answer; 0: do not "
      "think",
      [this](const std::string& text) {
        parse_think_budget("--think-budget", text, options_.generation);
      });
  set_.integer(
      "-n,--max-tokens,--n-predict,--predict",
      "generate at most N tokens, the thought included; 0: none (default: -1, until the end "
      "of the answer or the context)",
      -2, kTokensMax, [this](std::int64_t n) { options_.generation.max_tokens = n < 0 ? -1 : n; });
  set_.values("--stop,-r,--reverse-prompt", "TEXT",
              "end the answer before this text; may be given several times",
              [this](const std::string& text) {
                if (text.empty())
                  throw UsageError("--stop: expected at least one character, got ''");
                options_.generation.stop.push_back(text);
              });
  set_.flag("--ignore-eos", "go on after the end of the answer",
            [this] { options_.generation.ignore_eos = true; });
  set_.flag("--json-answer", "the answer is a JSON object",
            [this] { options_.generation.json = true; });
  set_.value("--json-schema", "SCHEMA",
             "the answer is JSON that satisfies this schema (a file's name, or the schema itself)",
             [this](const std::string& text) {
               options_.generation.json_schema = read_schema("--json-schema", text);
             });
  set_.flag("--json", "print one JSON object at the end: text, reasoning, token ids, timings",
            [this] { options_.json = true; });
  set_.integer("--logprobs", "with --json: log-probabilities of each token and the N likeliest", 0,
               20,
               [this](std::int64_t n) { options_.generation.top_logprobs = static_cast<int>(n); });
  set_.flag("-q,--quiet", "the answer and errors, nothing else", [this] { options_.quiet = true; });
  set_.flag("--verbose,-v",
            "say what was loaded and how it runs; in a chat also the numbers of each answer",
            [this] { options_.verbose = true; });
  // Both describe what happens here anyway: colour depends on the terminal, the prompt is not
  // echoed.
  set_.flag("--color,--no-display-prompt,--jinja,--single-turn", "", [] {});
}

void Declaration::declare_sampling() {
  r1::SamplingOptions& sampling = options_.generation.sampling;
  set_.group("Sampling (default: what the model file says, else what its authors advise)");
  set_.number("--temp,--temperature", "temperature, 0 to 100; 0: always the likeliest token", 0,
              100, sampling.temperature);
  set_.integer("--top-k", "draw from the K likeliest tokens; 0: off", -1, kInt64Max,
               [&sampling](std::int64_t n) { sampling.top_k = n; });
  set_.number("--top-p", "draw from the likeliest tokens that make up P; 1: off", 0, 1,
              sampling.top_p);
  set_.number("--min-p", "drop tokens less likely than P times the likeliest; 0: off", 0, 1,
              sampling.min_p);
  set_.value("-s,--seed", "N", "seed of the draws; -1: random (default)",
             [&sampling](const std::string& text) { sampling.seed = parse_seed("--seed", text); });
  set_.value("--repeat-penalty", "X", "make repeated tokens less likely; 1: off",
             [&sampling](const std::string& text) {
               const float penalty = parse_number("--repeat-penalty", text, 0, 100);
               if (penalty == 0)
                 throw UsageError("--repeat-penalty: expected more than 0, got '0'");
               sampling.repeat_penalty = penalty;
             });
  set_.integer("--repeat-last-n", "tokens that the penalties look back at; 0: off, -1: all", -1,
               kTokensMax, [&sampling](std::int64_t n) { sampling.repeat_last_n = n; });
  set_.number("--presence-penalty", "penalty on tokens that have come; 0: off", -100, 100,
              sampling.presence_penalty);
  set_.number("--frequency-penalty", "penalty for each time that a token has come; 0: off", -100,
              100, sampling.frequency_penalty);
  set_.values("-l,--logit-bias", "ID=BIAS",
              "add BIAS to the logit of token ID; may be given several times",
              [&sampling](const std::string& text) {
                sampling.logit_bias.push_back(parse_logit_bias("--logit-bias", text));
              });
}

void Declaration::declare_machine() {
  set_.group("Model and machine");
  set_.value("-m,--model", "FILE",
             "GGUF file, or any part of a split one (default: the demo model)",
             [this](const std::string& text) {
               if (text.empty()) throw UsageError("--model: expected a file name, got ''");
               options_.model_path = text;
             });
  set_.integer("-t,--threads", "threads (default: physical cores this process may use)", -1,
               kThreadsMax, [this](std::int64_t n) {
                 options_.engine.threads = options_.load.threads = static_cast<int>(n < 0 ? 0 : n);
               });
  set_.integer(
      "--threads-batch", "threads that read the prompt; also -tb (default: as -t)", -1, kThreadsMax,
      [this](std::int64_t n) { options_.engine.threads_batch = static_cast<int>(n < 0 ? 0 : n); });
  set_.integer(
      "-c,--ctx-size",
      "longest conversation in tokens (default: 0, what the model was trained for, at most "
      "32768). Memory is taken as it is used",
      0, kTokensMax, [this](std::int64_t n) { options_.engine.kv_tokens = n; });
  set_.value("--overflow", "HOW",
             "when a chat no longer fits: error (default), or drop-oldest-turns, which is said",
             [this](const std::string& text) {
               if (text != "error" && text != "drop-oldest-turns") {
                 throw UsageError(fmt::format(
                     "--overflow: expected error or drop-oldest-turns, got '{}'", text));
               }
               options_.generation.overflow =
                   text == "error" ? r1::Overflow::error : r1::Overflow::drop_oldest_turns;
             });
  set_.value("--kv-type", "TYPE",
             "how the conversation is held in memory: f16 (default), q8 (half of it) or f32; also "
             "-ctk, -ctv",
             [this](const std::string& text) {
               options_.key_type = options_.value_type = parse_kv_type("--kv-type", text);
             });
  set_.value("--cache-type-k", "TYPE", "", [this](const std::string& text) {
    options_.key_type = parse_kv_type("--cache-type-k", text);
  });
  set_.value("--cache-type-v", "TYPE", "", [this](const std::string& text) {
    options_.value_type = parse_kv_type("--cache-type-v", text);
  });
  set_.value("--kv-memory", "SIZE", "bytes that conversations may take in memory, such as 512M",
             [this](const std::string& text) {
               options_.engine.kv_memory = parse_bytes("--kv-memory", text);
             });
  set_.integer("-b,--batch-size", "tokens of the prompt that are read in one go (default: 512)", 1,
               kTokensMax, [this](std::int64_t n) { options_.engine.batch_size = n; });
  set_.value("--isa", "TIER", "instruction tier, see --version (default: the best this CPU has)",
             [this](const std::string& text) { options_.engine.isa = text; });
  set_.flag("--mmap", "map the model file (default)", [this] { options_.load.use_mmap = true; });
  set_.flag("--no-mmap", "read the model file", [this] { options_.load.use_mmap = false; });
  set_.flag("--mlock", "keep the weights from being swapped out",
            [this] { options_.load.lock_memory = true; });
  set_.flag("--huge-pages", "take reserved huge pages (vm.nr_hugepages); with too few, a warning",
            [this] { options_.load.huge_pages = true; });
}

void Declaration::declare_other() {
  set_.group("Other");
  set_.flag("-h,--help", "this text", [this] { options_.help = set_.help(kUsage, kExamples); });
  set_.flag("--version", "version, instruction tiers and compiler",
            [this] { options_.version = true; });
  set_.group("Accepted, without any effect here");
  set_.value("--numa", "V", "placement over NUMA nodes",
             [this](const std::string&) { options_.without_use.emplace_back("--numa"); });
  set_.flag("--low-vram", "for graphics cards; this program uses none",
            [this] { options_.without_use.emplace_back("--low-vram"); });
  for (const char* name : {"--flash-attn", "--no-warmup"}) {
    set_.flag(name, "", [this, name] { options_.without_use.emplace_back(name); });
  }
  without_use({"--ubatch-size", "--n-gpu-layers,--gpu-layers", "--prio"});
}

void Declaration::declare() {
  declare_input();
  declare_output();
  declare_sampling();
  declare_machine();
  declare_other();
}

// One type serves keys and values; who names it for one of them means both.
void settle_kv_type(Options& options) {
  const auto& key = options.key_type;
  const auto& value = options.value_type;
  if (key && value && *key != *value) {
    throw UsageError(fmt::format("--cache-type-v: expected the type of the keys, {}, got {}",
                                 r1::to_string(*key), r1::to_string(*value)));
  }
  if (key || value) options.engine.kv_type = key ? *key : *value;
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
  if (options.generation.json && !options.generation.json_schema.empty()) {
    throw UsageError("--json-answer: expected either this or --json-schema");
  }
  if (options.generation.top_logprobs >= 0 && !options.json) {
    throw UsageError("--logprobs: needs --json, which prints them");
  }
  if (options.json && options.chat) {
    throw UsageError("--json: expected one prompt, got a chat");
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  OptionSet set("expected one prompt, in quotes");
  Declaration declaration(set, options);  // what it declares refers to it while parsing
  declaration.declare();
  set.parse(arguments);
  settle_kv_type(options);
  check_combinations(options);
  return options;
}

}  // namespace r1_tools
