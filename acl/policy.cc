// Snapshot: finds an agent by source or id.
#include "acl/policy.h"

#include <algorithm>
#include <utility>

namespace stile::acl {

std::string_view text(Mode mode) noexcept {
  switch (mode) {
    case Mode::enforce:
      return "enforce";
    case Mode::observe:
      return "observe";
    case Mode::offline:
      break;
  }
  return "offline";
}

std::string text(const Ech& ech) {
  if (ech.everywhere) return "allow";
  std::string patterns;
  for (const auto& set : ech.hosts.sets) {
    for (std::uint32_t index = 0; index < set->size(); ++index) {
      if (!patterns.empty()) patterns += ", ";
      patterns += RuleRef{set.get(), index}.pattern();
    }
  }
  return patterns.empty() ? "refuse" : patterns;
}

const HostBudget* AgentPolicy::budget_for(std::string_view host) const noexcept {
  for (const HostBudget& budget : budgets) {
    if (budget.host == host) return &budget;
  }
  return nullptr;
}

Snapshot::Snapshot(std::uint64_t generation, std::vector<std::shared_ptr<const AgentPolicy>> agents)
    : generation_{generation}, agents_{std::move(agents)} {
  std::vector<std::pair<Prefix, PrefixMap::Value>> sources;
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    for (const Prefix& prefix : agents_[i]->sources) sources.emplace_back(prefix, i);
    ids_.emplace(agents_[i]->id, i);
  }
  sources_ = PrefixMap{std::move(sources)};
}

const std::shared_ptr<const AgentPolicy>* Snapshot::by_source(
    const Address& source) const noexcept {
  const auto index = sources_.find(source);
  return index ? &agents_[*index] : nullptr;
}

const std::shared_ptr<const AgentPolicy>* Snapshot::by_id(std::string_view id) const noexcept {
  const auto it = ids_.find(id);
  return it == ids_.end() ? nullptr : &agents_[it->second];
}

bool Snapshot::has_name(std::string_view name) const noexcept {
  return by_id(name) != nullptr || std::any_of(agents_.begin(), agents_.end(), [&](const auto& a) {
           return a->access && a->access->has_agent(name);
         });
}

}  // namespace stile::acl
