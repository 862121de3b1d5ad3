// nearest_name: the rule that a name probably meant.
#include "acl/nearest_name.h"

#include "base/nearest.h"

namespace stile::acl {
namespace {

constexpr std::size_t max_rules = 20000;
constexpr std::size_t long_name = 8;  // in shorter names, two errors make another word

}  // namespace

RuleRef nearest_name(const AgentPolicy& agent, std::string_view host) {
  RuleRef nearest;
  std::size_t best = (host.size() >= long_name ? 2 : 1) + std::size_t{1};
  std::size_t looked_at = 0;
  for (const auto& set : agent.allow.sets) {
    for (std::uint32_t i = 0; i < set->size() && looked_at < max_rules; ++i, ++looked_at) {
      const Rule& rule = set->rule(i);
      if (rule.kind == Pattern::Kind::regex || rule.kind == Pattern::Kind::any) continue;
      const std::size_t steps = edit_distance(host, set->name(rule), best - 1);
      if (steps >= best) continue;
      nearest = RuleRef{set.get(), i};
      best = steps;
      if (best <= 1) return nearest;
    }
  }
  return nearest;
}

}  // namespace stile::acl
