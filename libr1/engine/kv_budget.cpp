// Memory is taken only as pages are used, so the default bounds what may come, not what is taken.
#include "libr1/engine/kv_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "r1/error.hpp"

namespace r1::engine {
namespace {

constexpr std::int64_t kConversations = 64;
// Page numbers are 32 bits wide.
constexpr std::int64_t kPagesMax = std::numeric_limits<std::int32_t>::max();

}  // namespace

KvBudget kv_budget(const Settings& settings, const runtime::KvLayout& layout,
                   std::int64_t available) {
  const std::int64_t page_bytes = layout.page_bytes();
  if (settings.kv_memory > 0) {
    const std::int64_t pages = std::min(settings.kv_memory / page_bytes, kPagesMax);
    if (pages == 0) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("kv_memory: expected at least {} bytes (one page of {} tokens), got {}",
                      page_bytes, kernels::kPageTokens, settings.kv_memory));
    }
    return {pages, pages};
  }
  const std::int64_t conversation =
      (settings.kv_tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
  std::int64_t pages = std::min(conversation * kConversations, kPagesMax);
  if (available >= 0) pages = std::min(pages, available / 5 * 4 / page_bytes);
  pages = std::max<std::int64_t>(pages, 1);
  return {pages, std::min(pages, conversation)};
}

}  // namespace r1::engine
