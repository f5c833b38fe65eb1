// Filters on lists and dicts. Where Jinja gives a generator, these give a list.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "libr1/text/jinja/operators.hpp"
#include "libr1/text/jinja/text_tools.hpp"

namespace r1::text::jinja {
namespace {

/// Jinja's attribute getter: "a.b.0" goes step by step; an integer is an index.
Value get_path(Runtime& runtime, Value value, const Value& path) {
  if (path.is_integral()) return runtime.item(value, path);
  if (!path.is_text()) runtime.fail("attribute: expected a string or an integer");
  const std::string& name = path.as_text().bytes();
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::string part = name.substr(at, dot - at);
    std::int64_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_index = !part.empty() && part[0] != '-' && read.ec == std::errc() &&
                          read.ptr == part.data() + part.size();
    value = runtime.item(
        value, is_index ? Value::integer(number) : runtime.text(part, Author::template_file));
    at = dot + 1;
  }
  return value;
}

Value lowered(Runtime& runtime, const Value& value) {
  return value.is_text() ? runtime.text(lower(value.as_text())) : value;
}

Value filter_length(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "length", arguments).finish();
  return Value::integer(runtime.length(self));
}

Value filter_list(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "list", arguments).finish();
  return runtime.sequence(runtime.iterate(self));
}

Value filter_first(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "first", arguments).finish();
  const std::vector<Value> items = runtime.iterate(self);
  return items.empty() ? Value::undefined("no first item, sequence was empty") : items.front();
}

Value filter_last(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "last", arguments).finish();
  const std::vector<Value> items = runtime.iterate(self);
  return items.empty() ? Value::undefined("no last item, sequence was empty") : items.back();
}

Value filter_reverse(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "reverse", arguments).finish();
  if (self.is_text()) {
    return apply_slice(runtime, self, Value::none(), Value::none(), Value::integer(-1));
  }
  std::vector<Value> items = runtime.iterate(self);
  std::reverse(items.begin(), items.end());
  return runtime.sequence(std::move(items));
}

Value filter_join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "join", arguments);
  const Value* given = args.take("d");
  const Value* path = args.take("attribute");
  args.finish();
  const Text separator = given != nullptr ? to_text(runtime, *given) : Text();
  Text out;
  bool first = true;
  for (const Value& item : runtime.iterate(self)) {
    if (!first) out.append(separator);
    first = false;
    runtime.budget.step();
    const bool direct = path == nullptr || path->is_none();
    out.append(to_text(runtime, direct ? item : get_path(runtime, item, *path)));
  }
  return runtime.text(std::move(out));
}

Value filter_map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  std::vector<Value> out;
  if (!truthy(self)) return runtime.sequence({});  // so none|map(...) is empty, as in Jinja
  const std::vector<Value> items = runtime.iterate(self);
  if (arguments.positional.empty()) {
    const Value* path = nullptr;
    const Value* fallback = nullptr;
    for (const auto& [name, value] : arguments.named) {
      if (name == "attribute") path = &value;
      if (name == "default") fallback = &value;
    }
    if (path == nullptr) runtime.fail("map: expected a filter or attribute=");
    for (const Value& item : items) {
      Value value = get_path(runtime, item, *path);
      const bool missing = value.is_undefined() && fallback != nullptr && !fallback->is_none();
      out.push_back(missing ? *fallback : std::move(value));
    }
    return runtime.sequence(std::move(out));
  }
  if (!arguments.positional[0].is_text()) runtime.fail("map: expected a filter's name");
  const std::string& name = arguments.positional[0].as_text().bytes();
  const Native filter = find_filter(name);
  if (filter == nullptr) runtime.unsupported("map with this filter");
  if (filter == filter_map) runtime.unsupported("map of map");
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin());
  for (const Value& item : items) {
    runtime.budget.step();
    out.push_back(filter(runtime, item, rest));
  }
  return runtime.sequence(std::move(out));
}

/// select, reject, selectattr, rejectattr.
template <bool Keep, bool ByAttribute>
Value selected(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Arguments rest = arguments;
  const auto take = [&] {
    Value value = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
    return value;
  };
  Value path;
  if (ByAttribute) {
    if (rest.positional.empty()) runtime.fail("selectattr: expected an attribute's name");
    path = take();
  }
  NativeTest test = nullptr;
  if (!rest.positional.empty()) {
    const Value name = take();
    if (!name.is_text()) runtime.fail("select: expected a test's name");
    test = find_test(name.as_text().bytes());
    if (test == nullptr) runtime.unsupported("select with this test");
  }
  std::vector<Value> out;
  if (!truthy(self)) return runtime.sequence({});
  for (const Value& item : runtime.iterate(self)) {
    runtime.budget.step();
    const Value subject = ByAttribute ? get_path(runtime, item, path) : item;
    const bool holds = test != nullptr ? test(runtime, subject, rest) : truthy(subject);
    if (holds == Keep) out.push_back(item);
  }
  return runtime.sequence(std::move(out));
}

/// Items with the keys they are sorted by.
std::vector<std::pair<Value, Value>> keyed(Runtime& runtime, const Value& self, const Value* path,
                                           bool case_sensitive) {
  std::vector<std::pair<Value, Value>> pairs;
  for (const Value& item : runtime.iterate(self)) {
    Value key = path == nullptr || path->is_none() ? item : get_path(runtime, item, *path);
    if (!case_sensitive) key = lowered(runtime, key);
    pairs.emplace_back(std::move(key), item);
  }
  return pairs;
}

/// A list, one element an attribute ("a,b" names two): lists compare by their first unequal
/// elements, so that items which all lack the attribute are equal.
Value sort_key(Runtime& runtime, const Value& item, const Value* path, bool case_sensitive) {
  std::vector<Value> parts;
  if (path != nullptr && path->is_text()) {
    const Text comma(",", Author::template_file);
    for (Text& name : split(runtime, path->as_text(), &comma, -1, false)) {
      parts.push_back(get_path(runtime, item, runtime.text(std::move(name))));
    }
  } else {
    parts.push_back(path == nullptr || path->is_none() ? item : get_path(runtime, item, *path));
  }
  if (!case_sensitive) {
    for (Value& part : parts) part = lowered(runtime, part);
  }
  return runtime.sequence(std::move(parts));
}

Value filter_sort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "sort", arguments);
  const bool reverse = args.flag("reverse", false);
  const bool case_sensitive = args.flag("case_sensitive", false);
  const Value* path = args.take("attribute");
  args.finish();
  auto pairs = keyed(runtime, self, nullptr, true);
  for (auto& [key, item] : pairs) key = sort_key(runtime, item, path, case_sensitive);
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    return reverse ? less(runtime, b.first, a.first) : less(runtime, a.first, b.first);
  });
  std::vector<Value> out;
  for (auto& pair : pairs) out.push_back(std::move(pair.second));
  return runtime.sequence(std::move(out));
}

Value filter_unique(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "unique", arguments);
  const bool case_sensitive = args.flag("case_sensitive", false);
  const Value* path = args.take("attribute");
  args.finish();
  const ObjectPtr seen = runtime.make(ObjectKind::dict);
  std::vector<Value> out;
  for (auto& [key, item] : keyed(runtime, self, path, case_sensitive)) {
    std::string tag;
    if (!key_tag(key, tag)) runtime.fail(fmt::format("unhashable type: '{}'", type_name(key)));
    if (seen->find(tag) != nullptr) continue;
    runtime.set(*seen, key, Value::none());
    out.push_back(item);
  }
  return runtime.sequence(std::move(out));
}

template <bool Largest>
Value extreme(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, Largest ? "max" : "min", arguments);
  const bool case_sensitive = args.flag("case_sensitive", false);
  const Value* path = args.take("attribute");
  args.finish();
  auto pairs = keyed(runtime, self, path, case_sensitive);
  if (pairs.empty()) return Value::undefined("no aggregated item, sequence was empty");
  std::size_t best = 0;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const bool better = Largest ? less(runtime, pairs[best].first, pairs[i].first)
                                : less(runtime, pairs[i].first, pairs[best].first);
    if (better) best = i;
  }
  return pairs[best].second;
}

Value filter_sum(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "sum", arguments);
  const Value* path = args.take("attribute");
  const Value* start = args.take("start");
  args.finish();
  Value total = start != nullptr ? *start : Value::integer(0);
  for (const Value& item : runtime.iterate(self)) {
    const bool direct = path == nullptr || path->is_none();
    const Value value = direct ? item : get_path(runtime, item, *path);
    total = apply_binary(runtime, Operator::add, total, value);
  }
  return total;
}

Value filter_dictsort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "dictsort", arguments);
  const bool case_sensitive = args.flag("case_sensitive", false);
  const Text* by = args.text("by");
  const bool reverse = args.flag("reverse", false);
  args.finish();
  if (self.as_object() == nullptr || !self.as_object()->is_mapping()) {
    runtime.fail("dictsort: expected a dict");
  }
  const bool by_value = by != nullptr && by->bytes() == "value";
  const Value pairs = find_filter("items")(runtime, self, {});
  const Value path = Value::integer(by_value ? 1 : 0);
  Arguments sort;
  sort.named = {{"reverse", Value::boolean(reverse)},
                {"case_sensitive", Value::boolean(case_sensitive)},
                {"attribute", path}};
  return filter_sort(runtime, pairs, sort);
}

}  // namespace

Native find_sequence_filter(std::string_view name) {
  if (name == "length" || name == "count") return filter_length;
  if (name == "list") return filter_list;
  if (name == "first") return filter_first;
  if (name == "last") return filter_last;
  if (name == "reverse") return filter_reverse;
  if (name == "join") return filter_join;
  if (name == "map") return filter_map;
  if (name == "select") return selected<true, false>;
  if (name == "reject") return selected<false, false>;
  if (name == "selectattr") return selected<true, true>;
  if (name == "rejectattr") return selected<false, true>;
  if (name == "sort") return filter_sort;
  if (name == "unique") return filter_unique;
  if (name == "min") return extreme<false>;
  if (name == "max") return extreme<true>;
  if (name == "sum") return filter_sum;
  if (name == "dictsort") return filter_dictsort;
  return nullptr;
}

}  // namespace r1::text::jinja
