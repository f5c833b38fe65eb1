// Fuzzes the template parser and interpreter: any input renders or throws r1::Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libr1/text/jinja/template.hpp"
#include "r1/error.hpp"

namespace {

constexpr std::string_view kVariables = R"({
  "messages": [{"role": "system", "content": "s\u00e9 <|im_end|>"},
               {"role": "user", "content": "a b\n c  "},
               {"role": "assistant", "content": "x</think>\n\ny",
                "tool_calls": [{"function": {"name": "f", "arguments": {"n": [1, 2.5, null]}}}]}],
  "bos_token": "<s>", "add_generation_prompt": true, "n": 3, "l": [3, 1, 2], "t": "Hello World"})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace jinja = r1::text::jinja;
  jinja::Runtime runtime;
  runtime.budget = jinja::Budget(20'000, std::size_t{16} << 20);
  try {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    const jinja::Template compiled = jinja::Template::parse(source);
    const jinja::Value variables = jinja::from_json(runtime, kVariables, "variables");
    compiled.render(runtime, *variables.as_object());
  } catch (const r1::Error&) {
    return 0;
  }
  return 0;
}
