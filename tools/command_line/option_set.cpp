// CLI11 behind a small door: which of its policies are used, and its complaints in our words.
#include "tools/command_line/option_set.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/command_line/help.hpp"
#include "tools/command_line/numbers.hpp"
#include "tools/command_line/rewrite.hpp"
#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

/// CLI11's complaint in the tools' words. `app` is the parser that made it.
[[noreturn]] void throw_usage_error(const CLI::ParseError& error, const CLI::App& app,
                                    const std::string& unexpected) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string first = app.remaining().front();
    if (first.starts_with("-")) {
      throw UsageError(fmt::format("unknown option {} (--help lists all)", first));
    }
    throw UsageError(fmt::format("unexpected '{}': {}", first, unexpected));
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

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& type,
                       const std::string& description, const OptionSet::Setter& set) {
  return app.add_option_function<std::string>(names, set, description)
      ->type_name(type)
      ->type_size(1);
}

}  // namespace

OptionSet::OptionSet(std::string unexpected)
    : app_(std::make_unique<CLI::App>()), unexpected_(std::move(unexpected)) {
  app_->set_help_flag();
}

OptionSet::~OptionSet() = default;

void OptionSet::value(const std::string& names, const std::string& type,
                      const std::string& description, const Setter& set) {
  add_value(*app_, names, type, description, set)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(group_);
}

void OptionSet::value_once(const std::string& names, const std::string& type,
                           const std::string& description, const Setter& set) {
  add_value(*app_, names, type, description, set)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group(group_);
}

void OptionSet::values(const std::string& names, const std::string& type,
                       const std::string& description, const Setter& set) {
  app_->add_option_function<std::vector<std::string>>(
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

void OptionSet::integer(const std::string& names, const std::string& description, std::int64_t min,
                        std::int64_t max, const std::function<void(std::int64_t)>& set) {
  const std::string name = long_name(names);
  value(names, "N", description,
        [=](const std::string& text) { set(parse_integer(name, text, min, max)); });
}

void OptionSet::number(const std::string& names, const std::string& description, double min,
                       double max, std::optional<float>& target) {
  const std::string name = long_name(names);
  value(names, "X", description, [name, min, max, &target](const std::string& text) {
    target = parse_number(name, text, min, max);
  });
}

void OptionSet::flag(const std::string& names, const std::string& description,
                     const std::function<void()>& set) {
  app_->add_flag_function(
          names, [set](std::int64_t) { set(); }, description)
      ->disable_flag_override()
      ->group(group_);
}

std::string OptionSet::help(std::string_view usage, std::string_view examples) const {
  return help_text(*app_, usage, examples);
}

void OptionSet::parse(const std::vector<std::string>& arguments) {
  const auto takes_value = [this](std::string_view name) {
    const CLI::Option* option =
        name.starts_with("-") ? app_->get_option_no_throw(std::string(name)) : nullptr;
    return option != nullptr && option->get_items_expected_max() > 0;
  };
  const std::vector<std::string> rewritten = rewrite_arguments(arguments, takes_value);
  try {
    // CLI11 takes the arguments last one first.
    app_->parse(std::vector<std::string>(rewritten.rbegin(), rewritten.rend()));
  } catch (const CLI::ParseError& error) {
    throw_usage_error(error, *app_, unexpected_);
  }
}

std::string OptionSet::long_name(const std::string& names) {
  const std::size_t begin = names.find("--");
  return names.substr(begin, names.find(',', begin) - begin);
}

}  // namespace r1_tools
