// Tally: one worker's counters for one agent.
#include "proxy/metrics/tally.h"

namespace stile::metrics {
namespace {

constexpr std::array<std::string_view, method_count> names{
    "CONNECT", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TCP", "DNS", "other"};

}  // namespace

Method method_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    if (name == names[i]) return static_cast<Method>(i);
  }
  return Method::other;
}

std::string_view text(Method method) noexcept { return names[static_cast<std::size_t>(method)]; }

}  // namespace stile::metrics
