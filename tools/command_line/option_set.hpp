// The options of a tool as it declares them, and reading a command line into them. Values arrive as
// text and are read by numbers.hpp: CLI11 would take "010" for eight and "[a]" for a list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace r1_tools {

/// Options by group, in the order of --help. `names` are CLI11's: "-n,--max-tokens"; messages use
/// the first long one. An option without a description is accepted but not in --help. What setters
/// refer to has to outlive parse().
class OptionSet {
 public:
  using Setter = std::function<void(const std::string& text)>;

  /// `unexpected`: what to say after "unexpected 'x': " of an argument that is no option.
  explicit OptionSet(std::string unexpected);
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// Options from here on belong to the group `title`.
  void group(std::string title) { group_ = std::move(title); }
  /// An option with one value; given twice, the last one counts.
  void value(const std::string& names, const std::string& type, const std::string& description,
             const Setter& set);
  /// An option with one value that may be given once.
  void value_once(const std::string& names, const std::string& type, const std::string& description,
                  const Setter& set);
  /// An option that may be given several times, one value each.
  void values(const std::string& names, const std::string& type, const std::string& description,
              const Setter& set);
  /// An integer in [min, max].
  void integer(const std::string& names, const std::string& description, std::int64_t min,
               std::int64_t max, const std::function<void(std::int64_t)>& set);
  /// A number in [min, max].
  void number(const std::string& names, const std::string& description, double min, double max,
              std::optional<float>& target);
  /// An option without a value.
  void flag(const std::string& names, const std::string& description,
            const std::function<void()>& set);

  /// The text of --help between `usage` and `examples`.
  std::string help(std::string_view usage, std::string_view examples) const;
  /// Reads `arguments` (without the program's name) and calls the setters. Throws UsageError with
  /// one line.
  void parse(const std::vector<std::string>& arguments);

  /// The name that messages use: the first long one of `names`.
  static std::string long_name(const std::string& names);

 private:
  std::unique_ptr<CLI::App> app_;
  std::string unexpected_;
  std::string group_;
};

}  // namespace r1_tools
