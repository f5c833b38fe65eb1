// The public engine: settles options, then hands everything to the loop.
#include "r1/engine.hpp"

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
const Model& Engine::model() const { return impl_->loop->model(); }
const EngineInfo& Engine::info() const { return impl_->info; }

}  // namespace r1
