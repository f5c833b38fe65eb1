// The public handle: forwards to the implementation.
#include "libr1/text/chat_template.hpp"
#include "r1/chat.hpp"

namespace r1 {

std::string RenderedPrompt::text() const {
  std::string all;
  for (const PromptPiece& piece : pieces) all += piece.text;
  return all;
}

ChatTemplate::ChatTemplate(std::shared_ptr<const text::ChatTemplate> impl)
    : impl_(std::move(impl)) {}

RenderedPrompt ChatTemplate::render(const std::vector<Message>& messages,
                                    const ChatTemplateOptions& options) const {
  return impl_->render(messages, options);
}

const std::string& ChatTemplate::source() const { return impl_->source(); }

}  // namespace r1
