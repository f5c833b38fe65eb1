// Ties lexer, parser and interpreter together and gives bounds their error.
#include "libr1/text/jinja/template.hpp"

#include <fmt/format.h>

#include "libr1/text/jinja/interpreter.hpp"
#include "libr1/text/jinja/lexer.hpp"
#include "libr1/text/jinja/parser.hpp"

namespace r1::text::jinja {

Template Template::parse(std::string_view source) {
  Parser parser(tokenize(source));
  return Template(std::make_shared<const Block>(parser.parse()));
}

Text Template::render(Runtime& runtime, const Object& variables) const {
  try {
    return Interpreter(runtime, variables).run(*block_);
  } catch (const LimitExceeded& limit) {
    runtime.fail(fmt::format("rendering takes more than {}", limit.what));
  }
}

}  // namespace r1::text::jinja
