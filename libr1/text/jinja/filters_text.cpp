// Filters on strings. As in Jinja, what is not a string is turned into one first.
#include <fmt/format.h>

#include <algorithm>

#include "libr1/text/jinja/text_tools.hpp"
#include "libr1/text/jinja/utf8.hpp"

namespace r1::text::jinja {
namespace {

template <Text (*Function)(const Text&)>
Value mapped(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "filter", arguments).finish();
  const Text text = to_text(runtime, self);
  runtime.budget.work(text.size());
  return runtime.text(Function(text));
}

/// Jinja's title: words begin after blanks, hyphens and opening brackets only.
Text title_words(const Text& text) {
  Text out;
  const std::string_view bytes = text.bytes();
  const auto breaks = [&](std::size_t at) {
    const CodePoint c = code_point_at(bytes, at);
    return (c.valid && is_space(c.value)) ||
           (c.bytes == 1 && std::string_view("-({[<").find(bytes[at]) != std::string_view::npos);
  };
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    const bool separator = breaks(at);
    while (at < bytes.size() && breaks(at) == separator) at += code_point_at(bytes, at).bytes;
    out.append(separator ? text.slice(begin, at) : capitalize(text.slice(begin, at)));
  }
  return out;
}

Value filter_trim(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "trim", arguments);
  const Text* characters = args.text("chars");
  args.finish();
  const Text text = to_text(runtime, self);
  return runtime.text(strip(text, characters, Ends::both));
}

Value filter_replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "replace", arguments);
  const Text old_text = to_text(runtime, args.required("old"));
  const Text new_text = to_text(runtime, args.required("new"));
  const Value* given = args.take("count");
  args.finish();
  if (given != nullptr && !given->is_none() && !given->is_integral()) {
    runtime.fail("replace: count: expected an integer");
  }
  const std::int64_t count = given == nullptr || given->is_none() ? -1 : given->as_integer();
  return runtime.text(replace(runtime, to_text(runtime, self), old_text, new_text, count));
}

Value filter_indent(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "indent", arguments);
  const Value* width = args.take("width");
  const bool first = args.flag("first", false);
  const bool blank = args.flag("blank", false);
  args.finish();
  Text indention(std::string(4, ' '), Author::template_file);
  if (width != nullptr && width->is_text()) {
    indention = width->as_text();
  } else if (width != nullptr && width->is_integral()) {
    const std::int64_t columns = std::max<std::int64_t>(width->as_integer(), 0);
    if (columns > 1000) runtime.unsupported("an indent of more than 1000 columns");
    indention = Text(std::string(static_cast<std::size_t>(columns), ' '), Author::template_file);
  } else if (width != nullptr) {
    runtime.fail("indent: width: expected a number or a string");
  }
  if (self.is_undefined()) runtime.fail(self.hint());
  if (!self.is_text()) {
    runtime.fail(fmt::format("indent: expected a string, got '{}'", type_name(self)));
  }
  Text text = self.as_text();
  runtime.budget.work(text.size());
  text.append("\n", Author::template_file);
  Text out;
  bool is_first = true;
  for (const Text& line : split_lines(text, false)) {
    if (!is_first) out.append("\n", Author::template_file);
    const bool wanted = is_first ? first : blank || !line.empty();
    if (wanted) out.append(indention);
    out.append(line);
    is_first = false;
  }
  return runtime.text(std::move(out));
}

Value filter_format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text format = to_text(runtime, self);
  if (arguments.named.empty()) {
    return runtime.text(
        format_percent(runtime, format, runtime.sequence(arguments.positional, ObjectKind::tuple)));
  }
  if (!arguments.positional.empty()) {
    runtime.fail("format: positional and named arguments together");
  }
  const ObjectPtr dict = runtime.make(ObjectKind::dict);
  for (const auto& [name, value] : arguments.named) {
    runtime.set(*dict, runtime.text(name, Author::template_file), value);
  }
  return runtime.text(format_percent(runtime, format, Value::object(dict)));
}

/// Markup's entities; the inserted ones count as the author's of the character.
Value filter_escape(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "escape", arguments).finish();
  static constexpr std::string_view kSpecial = "&<>'\"";
  static constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  const Text text = to_text(runtime, self);
  runtime.budget.work(text.size());
  Text out;
  std::size_t copied = 0;
  const std::string& bytes = text.bytes();
  for (std::size_t at = bytes.find_first_of(kSpecial); at != std::string::npos;
       at = bytes.find_first_of(kSpecial, at + 1)) {
    out.append(text, copied, at);
    out.append(kEntities[kSpecial.find(bytes[at])], text.author_at(at));
    copied = at + 1;
  }
  out.append(text, copied, bytes.size());
  return runtime.text(std::move(out));
}

}  // namespace

Native find_text_filter(std::string_view name) {
  if (name == "trim") return filter_trim;
  if (name == "upper") return mapped<upper>;
  if (name == "lower") return mapped<lower>;
  if (name == "capitalize") return mapped<capitalize>;
  if (name == "title") return mapped<title_words>;
  if (name == "replace") return filter_replace;
  if (name == "indent") return filter_indent;
  if (name == "format") return filter_format;
  if (name == "escape" || name == "e") return filter_escape;
  return nullptr;
}

}  // namespace r1::text::jinja
