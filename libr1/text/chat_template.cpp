// Turns messages into the dicts that Hugging Face's templates expect, renders, and cuts the result
// into pieces by who wrote them. What a template wants of tool calls is found out once, by trying.
#include "libr1/text/chat_template.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "libr1/gguf/reader.hpp"
#include "libr1/text/default_templates.hpp"
#include "libr1/text/jinja/template.hpp"
#include "libr1/text/tokenizer.hpp"
#include "r1/error.hpp"

namespace r1::text {
namespace {

using jinja::Author;
using jinja::ObjectKind;
using jinja::ObjectPtr;
using jinja::Runtime;
using jinja::Value;

/// How a template wants an assistant's tool calls.
struct ToolCallStyle {
  bool null_content = false;      ///< empty content must be none, or the calls are left out
  bool string_arguments = false;  ///< arguments are concatenated as a string
};

void set(Runtime& runtime, jinja::Object& dict, std::string_view key, Value value) {
  runtime.set(dict, runtime.text(key, Author::conversation), std::move(value));
}

void set_text(Runtime& runtime, jinja::Object& dict, std::string_view key, std::string_view value,
              Author author = Author::conversation) {
  set(runtime, dict, key, runtime.text(value, author));
}

/// UTC: the local time zone would come from the environment.
std::tm current_time() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  gmtime_r(&now, &fields);
  return fields;
}

Value parsed_array(Runtime& runtime, const std::string& json, const std::string& what) {
  Value value = jinja::from_json(runtime, json, what);
  if (value.as_object() == nullptr || value.as_object()->kind != ObjectKind::list) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected a JSON array, got a '{}'",
                                                         what, jinja::type_name(value)));
  }
  return value;
}

/// Clients send arguments as a JSON string; most templates want the object in it.
void adjust_arguments(Runtime& runtime, jinja::Object& function, bool as_string) {
  const Value* found = function.find(jinja::text_tag("arguments"));
  if (found == nullptr || found->is_none()) {
    set(runtime, function, "arguments", Value::object(runtime.make(ObjectKind::dict)));
  } else if (found->is_text() && !as_string) {
    const std::string& json = found->as_text().bytes();
    Value value = Value::object(runtime.make(ObjectKind::dict));
    if (!json.empty()) {
      try {
        value = jinja::from_json(runtime, json, "arguments");
      } catch (const Error&) {
        return;  // What a model once wrote need not be JSON; it stays a string.
      }
    }
    set(runtime, function, "arguments", std::move(value));
  }
  const Value arguments = *function.find(jinja::text_tag("arguments"));
  if (as_string && !arguments.is_text()) {
    set(runtime, function, "arguments", runtime.text(jinja::to_json(runtime, arguments, {})));
  }
}

Value tool_calls(Runtime& runtime, const std::string& json, const ToolCallStyle& style,
                 const std::string& what) {
  Value calls = parsed_array(runtime, json, what);
  for (const Value& call : calls.as_object()->values) {
    jinja::Object* object = call.as_object();
    if (object == nullptr || !object->is_mapping()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected objects, got a '{}'", what, jinja::type_name(call)));
    }
    if (object->find(jinja::text_tag("type")) == nullptr) {
      set_text(runtime, *object, "type", "function");
    }
    const Value* function = object->find(jinja::text_tag("function"));
    if (function != nullptr && function->as_object() != nullptr &&
        function->as_object()->is_mapping()) {
      adjust_arguments(runtime, *function->as_object(), style.string_arguments);
    }
  }
  return calls;
}

Value message_dict(Runtime& runtime, const Message& message, const ToolCallStyle& style,
                   std::size_t index) {
  const ObjectPtr dict = runtime.make(ObjectKind::dict);
  set_text(runtime, *dict, "role", message.role);
  const bool null_content =
      style.null_content && message.content.empty() && !message.tool_calls_json.empty();
  set(runtime, *dict, "content",
      null_content ? Value::none() : runtime.text(message.content, Author::conversation));
  if (!message.reasoning_content.empty()) {
    set_text(runtime, *dict, "reasoning_content", message.reasoning_content);
  }
  if (!message.name.empty()) set_text(runtime, *dict, "name", message.name);
  if (!message.tool_call_id.empty()) set_text(runtime, *dict, "tool_call_id", message.tool_call_id);
  if (!message.tool_calls_json.empty()) {
    const std::string what = fmt::format("messages[{}].tool_calls", index);
    set(runtime, *dict, "tool_calls", tool_calls(runtime, message.tool_calls_json, style, what));
  }
  return Value::object(dict);
}

/// True when the answer will continue a `<think>` that the template itself wrote at the end.
bool ends_in_thought(const jinja::Text& text) {
  static constexpr std::string_view kOpen = "<think>";
  const std::string& bytes = text.bytes();
  const std::size_t open = bytes.rfind(kOpen);
  if (open == std::string::npos || bytes.find("</think>", open) != std::string::npos) return false;
  // Runs are maximal, so the template wrote all the rest only if it is one run.
  const auto& last = text.runs().back();
  const std::size_t last_begin =
      text.runs().size() < 2 ? 0 : text.runs()[text.runs().size() - 2].end;
  return last.author == Author::template_file && open >= last_begin;
}

std::string name_of(const gguf::Reader& file) {
  return fmt::format("{}: tokenizer.chat_template", file.name());
}

}  // namespace

struct ChatTemplate::Impl {
  std::string source;
  std::string bos_token;
  std::string eos_token;
  jinja::Template compiled;
  ToolCallStyle style;

  jinja::Text render(const std::vector<Message>& messages, const ChatTemplateOptions& options,
                     const ToolCallStyle& with_style) const {
    Runtime runtime;
    runtime.now = current_time;
    ObjectPtr variables;
    try {
      variables = runtime.make(ObjectKind::dict);
      const ObjectPtr list = runtime.make(ObjectKind::list);
      for (std::size_t i = 0; i < messages.size(); ++i) {
        list->push(message_dict(runtime, messages[i], with_style, i));
      }
      set(runtime, *variables, "messages", Value::object(list));
      if (!options.tools_json.empty()) {
        set(runtime, *variables, "tools", parsed_array(runtime, options.tools_json, "tools"));
      }
      set_text(runtime, *variables, "bos_token", bos_token, Author::template_file);
      set_text(runtime, *variables, "eos_token", eos_token, Author::template_file);
      set(runtime, *variables, "add_generation_prompt",
          Value::boolean(options.add_generation_prompt));
      set(runtime, *variables, "enable_thinking", Value::boolean(options.enable_thinking));
    } catch (const jinja::LimitExceeded& limit) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("messages: expected at most {}, got more", limit.what));
    }
    return compiled.render(runtime, *variables);
  }

  /// Renders a conversation with a tool call in each style; takes the first one that shows the
  /// call.
  ToolCallStyle find_style() const {
    static constexpr std::string_view kName = "r1_probe_name";
    static constexpr std::string_view kArgument = "r1_probe_value";
    Message user{.role = "user", .content = "a"};
    Message call{.role = "assistant"};
    call.tool_calls_json = fmt::format(R"([{{"id":"callprobe","type":"function",)"
                                       R"("function":{{"name":"{}","arguments":{{"a":"{}"}}}}}}])",
                                       kName, kArgument);
    Message result{.role = "tool", .content = "b", .name = std::string(kName)};
    result.tool_call_id = "callprobe";
    static constexpr std::array<ToolCallStyle, 4> kStyles = {
        {{false, false}, {false, true}, {true, false}, {true, true}}};
    for (const ToolCallStyle& candidate : kStyles) {
      try {
        const jinja::Text text = render({user, call, result, user}, {}, candidate);
        const bool shows = text.bytes().find(kName) != std::string::npos &&
                           text.bytes().find(kArgument) != std::string::npos;
        if (shows) return candidate;
      } catch (const Error&) {
        continue;  // This style does not suit the template; another one may.
      }
    }
    return {};
  }
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;

std::shared_ptr<const ChatTemplate> ChatTemplate::from_source(const std::string& source,
                                                              const std::string& bos_token,
                                                              const std::string& eos_token) {
  auto impl = std::make_unique<Impl>(
      Impl{source, bos_token, eos_token, jinja::Template::parse(source), ToolCallStyle{}});
  impl->style = impl->find_style();
  return std::make_shared<const ChatTemplate>(std::move(impl));
}

std::shared_ptr<const ChatTemplate> ChatTemplate::from_gguf(
    const gguf::Reader& file, const Tokenizer& tokenizer,
    const std::function<void(std::string_view)>& on_warning) {
  const auto token_text = [&](TokenId id) { return id < 0 ? std::string() : tokenizer.bytes(id); };
  // Qwen files name a BOS id that their models never use (case C1).
  const bool has_bos = tokenizer.is_r1() || tokenizer.adds_bos();
  const std::string bos_token = has_bos ? token_text(tokenizer.bos()) : std::string();
  const std::string eos_token = token_text(tokenizer.eos());
  const std::string source = file.get_string("tokenizer.chat_template").value_or("");
  if (source.find_first_not_of(" \t\r\n") == std::string::npos) {
    const bool r1 = tokenizer.is_r1();
    if (on_warning) {
      on_warning(fmt::format("{}: missing, using r1's own {} template", name_of(file),
                             r1 ? "DeepSeek-R1" : "ChatML"));
    }
    const std::string_view own = r1 ? default_r1_template() : default_chatml_template();
    return from_source(std::string(own), bos_token, eos_token);
  }
  try {
    return from_source(source, bos_token, eos_token);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name_of(file), error.what()));
  }
}

RenderedPrompt ChatTemplate::render(const std::vector<Message>& messages,
                                    const ChatTemplateOptions& options) const {
  const jinja::Text text = impl_->render(messages, options, impl_->style);
  RenderedPrompt prompt;
  std::size_t begin = 0;
  for (const auto& run : text.runs()) {
    prompt.pieces.push_back(
        {text.bytes().substr(begin, run.end - begin), run.author == Author::template_file});
    begin = run.end;
  }
  prompt.starts_in_thought = options.add_generation_prompt && ends_in_thought(text);
  return prompt;
}

const std::string& ChatTemplate::source() const { return impl_->source; }

}  // namespace r1::text
