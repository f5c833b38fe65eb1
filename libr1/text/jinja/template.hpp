// A parsed template: what the rest of the library uses of this folder.
#pragma once

#include <memory>
#include <string_view>

#include "libr1/text/jinja/ast.hpp"
#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {

/// Immutable, thread-safe, cheap to copy.
class Template {
 public:
  /// Throws Error{template_error, unsupported} with the line.
  static Template parse(std::string_view source);
  /// Renders with the variables of the dict `variables`. Throws Error{template_error, unsupported}
  /// with the line, also when a bound of the runtime is reached.
  Text render(Runtime& runtime, const Object& variables) const;

 private:
  explicit Template(std::shared_ptr<const Block> block) : block_(std::move(block)) {}
  std::shared_ptr<const Block> block_;
};

}  // namespace r1::text::jinja
