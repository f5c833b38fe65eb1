// A model's own Jinja chat template, or R1's or ChatML when the file has none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "r1/chat.hpp"

namespace r1::gguf {
class Reader;
}

namespace r1::text {

class Tokenizer;

/// Immutable, thread-safe. Rendering is bounded in steps and output bytes.
class ChatTemplate {
  struct Impl;

 public:
  /// Takes tokenizer.chat_template, else R1's or ChatML by the vocabulary with one `on_warning`
  /// line. Throws Error{unsupported, template_error} with the template's line for what the
  /// interpreter lacks.
  static std::shared_ptr<const ChatTemplate> from_gguf(
      const gguf::Reader& file, const Tokenizer& tokenizer,
      const std::function<void(std::string_view)>& on_warning);
  /// Compiles `source`; `bos_token` and `eos_token` are the variables of those names.
  static std::shared_ptr<const ChatTemplate> from_source(const std::string& source,
                                                         const std::string& bos_token,
                                                         const std::string& eos_token);
  /// For from_source(): Impl is private.
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  ~ChatTemplate();

  /// Only text that the template wrote itself has parse_special set (case T5).
  RenderedPrompt render(const std::vector<Message>& messages,
                        const ChatTemplateOptions& options) const;
  const std::string& source() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace r1::text
