// Methods of lists, tuples, dicts and loops.
#include <fmt/format.h>

#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {
namespace {

Value list_append(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "append", arguments);
  const Value& item = args.required("object");
  args.finish();
  if (item.as_object() != nullptr) runtime.will_mutate(self.object_ptr());
  self.as_object()->push(item);
  return Value::none();
}

Value list_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "index", arguments);
  const Value& wanted = args.required("value");
  args.finish();
  const std::vector<Value>& values = self.as_object()->values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (equal(runtime, values[i], wanted)) return Value::integer(static_cast<std::int64_t>(i));
  }
  runtime.fail("index: the value is not in the list");
}

Value list_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "count", arguments);
  const Value& wanted = args.required("value");
  args.finish();
  std::int64_t count = 0;
  for (const Value& value : self.as_object()->values)
    count += equal(runtime, value, wanted) ? 1 : 0;
  return Value::integer(count);
}

Value dict_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "get", arguments);
  const Value& key = args.required("key");
  const Value* fallback = args.take("default");
  args.finish();
  std::string tag;
  if (!key_tag(key, tag)) runtime.fail(fmt::format("unhashable type: '{}'", type_name(key)));
  if (const Value* found = self.as_object()->find(tag)) return *found;
  return fallback != nullptr ? *fallback : Value::none();
}

Value dict_keys(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "keys", arguments).finish();
  return runtime.sequence(self.as_object()->keys);
}

Value dict_values(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "values", arguments).finish();
  return runtime.sequence(self.as_object()->values);
}

Value dict_items(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return find_filter("items")(runtime, self, arguments);
}

Value loop_cycle(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) runtime.fail("cycle: no items for cycling given");
  const auto at = static_cast<std::size_t>(self.as_object()->position);
  return arguments.positional[at % arguments.positional.size()];
}

}  // namespace

Native find_method(const Value& self, std::string_view name) {
  if (self.is_text()) return find_text_method(name);
  const Object* object = self.as_object();
  if (object == nullptr) return nullptr;
  if (object->is_sequence()) {
    if (name == "append" && object->kind == ObjectKind::list) return list_append;
    if (name == "index") return list_index;
    if (name == "count") return list_count;
  } else if (object->is_mapping()) {
    if (name == "get") return dict_get;
    if (name == "keys") return dict_keys;
    if (name == "values") return dict_values;
    if (name == "items") return dict_items;
  } else if (object->kind == ObjectKind::loop) {
    if (name == "cycle") return loop_cycle;
  }
  return nullptr;
}

}  // namespace r1::text::jinja
