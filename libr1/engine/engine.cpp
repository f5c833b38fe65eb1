// The public engine: settles options, then hands everything to the loop.
#include "r1/engine.hpp"

#include <fmt/format.h>

#include "libr1/engine/session.hpp"
#include "libr1/engine/settings.hpp"

namespace r1 {
namespace engine {

/// The options an engine runs with, and the loop that runs them.
class EngineImpl {
 public:
  EngineImpl(const Model& model, const EngineOptions& options) {
    const Settings settings = settle(options, model.info().trained_context);
    info = describe(settings);
    loop = std::make_shared<Loop>(model, settings, options.on_prefill);
    const std::int64_t page_bytes = loop->pool().layout().page_bytes();
    info.kv_type = options.kv_type;
    info.kv_tokens = loop->context();
    if (info.kv_tokens < settings.kv_tokens && options.on_warning) {
      options.on_warning(
          fmt::format("keys and values may take {} MiB, which is {} tokens: fewer "
                      "than the context of {}",
                      loop->budget().pages * page_bytes >> 20, info.kv_tokens, settings.kv_tokens));
    }
    info.kv_memory = loop->budget().pages * page_bytes;
    info.kv_token_bytes = page_bytes / kernels::kPageTokens;
  }

  std::shared_ptr<Loop> loop;
  EngineInfo info;
};

}  // namespace engine

Engine::Engine(Model model, EngineOptions options)
    : impl_(std::make_unique<engine::EngineImpl>(model, options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Session Engine::open_session(GenerationOptions options) {
  return Session(std::make_unique<engine::SessionImpl>(impl_->loop, std::move(options)));
}
Submission Engine::submit(std::vector<Message> messages, GenerationOptions options,
                          GenerationEvents events) {
  auto session = std::make_unique<engine::SessionImpl>(impl_->loop, std::move(options));
  session->set_events(std::move(events));
  session->add(std::move(messages));
  return Submission(std::move(session));
}

std::vector<Generation> Engine::generate(std::vector<std::vector<Message>> conversations,
                                         const GenerationOptions& options) {
  std::vector<Submission> running;
  running.reserve(conversations.size());
  for (auto& messages : conversations) running.push_back(submit(std::move(messages), options));
  std::vector<Generation> results;
  results.reserve(running.size());
  for (Submission& submission : running) results.push_back(submission.wait());
  return results;
}

Submission::Submission(std::unique_ptr<engine::SessionImpl> impl) : impl_(std::move(impl)) {}
Submission::Submission(Submission&&) noexcept = default;
Submission& Submission::operator=(Submission&&) noexcept = default;
Submission::~Submission() = default;
void Submission::cancel() { impl_->stop(); }
void Submission::end_thought() { impl_->end_thought(); }
const Generation& Submission::wait() {
  while (impl_->next()) {
  }
  return impl_->result();
}

const Model& Engine::model() const { return impl_->loop->model(); }
const EngineInfo& Engine::info() const { return impl_->info; }
KvUsage Engine::kv_usage() const {
  const runtime::KvPool& pool = impl_->loop->pool();
  const runtime::KvStatistics now = pool.statistics();
  return {pool.layout().page_bytes(),
          now.capacity,
          now.free,
          now.used,
          now.cached,
          now.shared,
          now.evicted,
          now.tokens_reused,
          now.bytes_saved};
}

}  // namespace r1
