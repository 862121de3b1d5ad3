// Edit distance with early exit.
#include "acl/nearest_name.h"

#include <algorithm>
#include <array>

namespace stile::acl {
namespace {

constexpr std::size_t max_rules = 20000;
constexpr std::size_t long_name = 8;  // in shorter names, two errors make another word

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`;
// `limit` + 1 if there are more than `limit`. Computes only the diagonal band within the limit.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  using Distances = std::array<std::size_t, Host::max_length + 1>;
  const std::size_t too_far = limit + 1;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return too_far;
  Distances before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = std::min(j, too_far);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t from = i > limit ? i - limit : 1;
    const std::size_t to = std::min(b.size(), i + limit);
    row.fill(too_far);
    if (from == 1) row[0] = std::min(i, too_far);
    std::size_t best = row[0];
    for (std::size_t j = from; j <= to; ++j) {
      std::size_t steps = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps = std::min({steps, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        steps = std::min(steps, before[j - 2] + 1);
      }
      row[j] = std::min(steps, too_far);
      best = std::min(best, row[j]);
    }
    if (best > limit) return too_far;
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

RuleRef nearest_name(const AgentPolicy& agent, std::string_view host) {
  RuleRef nearest;
  std::size_t best = (host.size() >= long_name ? 2 : 1) + std::size_t{1};
  std::size_t looked_at = 0;
  for (const auto& set : agent.allow.sets) {
    for (std::uint32_t i = 0; i < set->size() && looked_at < max_rules; ++i, ++looked_at) {
      const Rule& rule = set->rule(i);
      if (rule.kind == Pattern::Kind::regex || rule.kind == Pattern::Kind::any) continue;
      const std::size_t steps = distance(host, set->name(rule), best - 1);
      if (steps >= best) continue;
      nearest = RuleRef{set.get(), i};
      best = steps;
      if (best <= 1) return nearest;
    }
  }
  return nearest;
}

}  // namespace stile::acl
