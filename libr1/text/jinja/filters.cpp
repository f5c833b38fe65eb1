// The table of filters, and those that fit no other file: default, tojson, attr, items, string.
#include <fmt/format.h>

#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {
namespace {

Value filter_default(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "default", arguments);
  const Value* fallback = args.take("default_value");
  const bool boolean = args.flag("boolean", false);
  args.finish();
  if (!self.is_undefined() && !(boolean && !truthy(self))) return self;
  return fallback != nullptr ? *fallback : runtime.text(Text());
}

Value filter_tojson(Runtime& runtime, const Value& self, const Arguments& arguments) {
  // Order of parameters as in Transformers' own tojson.
  ArgumentReader args(runtime, "tojson", arguments);
  JsonStyle style;
  style.ensure_ascii = args.flag("ensure_ascii", false);
  const Value* indent = args.take("indent");
  const Value* separators = args.take("separators");
  style.sort_keys = args.flag("sort_keys", false);
  args.finish();
  if (indent != nullptr && !indent->is_none()) {
    if (!indent->is_integral() || indent->as_integer() < 0 || indent->as_integer() > 100) {
      runtime.unsupported("tojson: an indent that is not a number from 0 to 100");
    }
    style.indent = static_cast<int>(indent->as_integer());
  }
  if (separators != nullptr && !separators->is_none()) {
    const std::vector<Value> pair = runtime.iterate(*separators);
    if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) {
      runtime.fail("tojson: separators: expected two strings");
    }
    style.item_separator = pair[0].as_text().bytes();
    style.key_separator = pair[1].as_text().bytes();
    style.default_separators = false;
  }
  return runtime.text(to_json(runtime, self, style));
}

Value filter_items(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "items", arguments).finish();
  if (self.is_undefined()) return runtime.sequence({});
  const Object* object = self.as_object();
  if (object == nullptr || !object->is_mapping()) {
    runtime.fail(fmt::format("items: expected a dict, got '{}'", type_name(self)));
  }
  std::vector<Value> pairs;
  for (std::size_t i = 0; i < object->keys.size(); ++i) {
    pairs.push_back(runtime.sequence({object->keys[i], object->values[i]}, ObjectKind::tuple));
  }
  return runtime.sequence(std::move(pairs));
}

Value filter_attr(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "attr", arguments);
  const Text& name = args.required_text("name");
  args.finish();
  return runtime.attribute(self, name.bytes());
}

Value filter_string(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "string", arguments).finish();
  return runtime.text(to_text(runtime, self));
}

}  // namespace

Native find_filter(std::string_view name) {
  if (name == "default" || name == "d") return filter_default;
  if (name == "tojson") return filter_tojson;
  if (name == "items") return filter_items;
  if (name == "attr") return filter_attr;
  if (name == "string" || name == "safe") return filter_string;
  if (const Native native = find_text_filter(name)) return native;
  if (const Native native = find_sequence_filter(name)) return native;
  return find_number_filter(name);
}

}  // namespace r1::text::jinja
