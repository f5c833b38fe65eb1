// Messages of a conversation and the template that turns them into a prompt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1 {

/// One message of a conversation. Fields that a role does not use stay empty.
struct Message {
  std::string role = {};     ///< "system", "user", "assistant" or "tool"
  std::string content = {};  ///< UTF-8
  std::string reasoning_content =
      {};  ///< an assistant's thought, kept apart; replayed only if the template does so
  std::string name = {};             ///< name of a tool or participant
  std::string tool_calls_json = {};  ///< an assistant's tool calls as a JSON array in OpenAI's form
  std::string tool_call_id = {};     ///< the call that a tool message answers
};

/// Switches that templates understand.
struct ChatTemplateOptions {
  bool add_generation_prompt = true;  ///< end with the assistant's header
  bool enable_thinking = true;        ///< `enable_thinking` of Qwen3-like templates
  std::string tools_json = {};        ///< JSON array of tools in OpenAI's form, or empty
};

/// A rendered conversation.
struct RenderedPrompt {
  std::vector<PromptPiece> pieces;  ///< in order; template text has parse_special set
  bool starts_in_thought = false;   ///< the prompt ends inside an open `<think>`
  /// All pieces joined.
  std::string text() const;
};

namespace text {
class ChatTemplate;
}

/// Handle to an immutable chat template, cheap to copy. Thread-safe.
class ChatTemplate {
 public:
  explicit ChatTemplate(std::shared_ptr<const text::ChatTemplate> impl);

  /// Renders a conversation. Throws Error{template_error} when the template raises one.
  RenderedPrompt render(const std::vector<Message>& messages,
                        const ChatTemplateOptions& options = {}) const;
  /// The Jinja source in use.
  const std::string& source() const;

 private:
  std::shared_ptr<const text::ChatTemplate> impl_;
};

}  // namespace r1
