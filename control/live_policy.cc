// LivePolicy: the policy of the files plus the changes made through the control socket.
#include "control/live_policy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/card.h"

namespace stile::control {
namespace {

std::optional<AgentIdentity> identity_of(const EntryPtr& entry) {
  return entry ? std::optional{entry->identity} : std::nullopt;
}

void set_budgets(const acl::AgentPolicy& policy, std::uint64_t used_up, std::uint64_t used_down,
                 acl::Account& account) {
  start_count(account.bytes_up, policy.bytes_up, used_up);
  start_count(account.bytes_down, policy.bytes_down, used_down);
}

// A changed budget keeps the usage so far. Workers use it at the same time.
void change_budget(const std::optional<std::uint64_t>& before,
                   const std::optional<std::uint64_t>& now, acl::Allowance& left) {
  if (before && now) {
    left.add(static_cast<std::int64_t>(*now) - static_cast<std::int64_t>(*before));
  } else if (before != now) {
    start_count(left, now, 0);
  }
}

void add_to(acl::Allowance& left, std::int64_t amount) {
  if (left.is_limited()) left.add(amount);
}

// Gives the budgets of a new policy their counters: those of the hosts that had a budget before,
// with the usage so far. `before` is null if there was no policy.
void count_hosts(const acl::AgentPolicy* before, acl::AgentPolicy& now, acl::Account& account) {
  auto old = std::move(account.hosts);
  account.hosts.clear();
  for (acl::HostBudget& budget : now.budgets) {
    const auto found = old.find(budget.host);
    if (found == old.end()) {
      budget.usage = std::make_shared<acl::HostUsage>();
      start_count(budget.usage->requests, budget.max_requests, 0);
      start_count(budget.usage->tokens, budget.tokens, 0);
    } else {
      budget.usage = found->second;
      const auto* last = before != nullptr ? before->budget_for(budget.host) : nullptr;
      if (last != nullptr) {
        change_budget(last->max_requests, budget.max_requests, budget.usage->requests);
        change_budget(last->tokens, budget.tokens, budget.usage->tokens);
      }
    }
    account.hosts[budget.host] = budget.usage;
  }
}

void restore_hosts(const std::vector<SavedHostUsage>& saved, const acl::AgentPolicy& policy) {
  for (const SavedHostUsage& used : saved) {
    const acl::HostBudget* budget = policy.budget_for(used.host);
    if (budget == nullptr) continue;
    start_count(budget->usage->requests, budget->max_requests, used.requests);
    start_count(budget->usage->tokens, budget->tokens, used.tokens);
    budget->usage->minute.restore(used.minute);
  }
}

std::vector<SavedHostUsage> save_hosts(const acl::AgentPolicy& policy) {
  std::vector<SavedHostUsage> all;
  for (const acl::HostBudget& budget : policy.budgets) {
    acl::HostUsage& usage = *budget.usage;
    SavedHostUsage used;
    used.host = budget.host;
    used.requests = recorded_of(budget.max_requests, usage.requests);
    used.tokens = recorded_of(budget.tokens, usage.tokens);
    if (budget.tokens) used.tokens += static_cast<std::uint64_t>(usage.save_debt());
    if (budget.requests_per_minute) used.minute = usage.minute.saved();
    if (used.requests != 0 || used.tokens != 0 || used.minute.count != 0) {
      all.push_back(std::move(used));
    }
  }
  return all;
}

}  // namespace

LivePolicy::LivePolicy(FilePolicyPtr base, const SavedState& saved) : base_{std::move(base)} {
  mode_ = saved.mode;
  fleet_offline_ = saved.fleet.offline;
  std::map<std::string, std::optional<AgentIdentity>> before;
  for (const auto& agent : saved.agents) {
    overlays_[agent.id] = std::make_shared<const AgentOverlay>(agent.overlay);
    before[agent.id] = agent.identity;
  }
  for (const auto& card : saved.cards) {
    cards_[config::card_id(card.text)] = std::make_shared<const PutCard>(card);
  }
  inherit_overlays(before);
  refresh_all();
  for (const auto& agent : saved.agents) {
    const auto running = running_.find(agent.id);
    if (running == running_.end() ||
        !running->second.entry->identity.is_same_agent(agent.identity)) {
      continue;
    }
    Running& now = running->second;
    set_budgets(*now.policy, agent.used_up, agent.used_down, *now.account);
    restore_hosts(agent.hosts, *now.policy);
  }
  publish();
}

EntryPtr LivePolicy::removed_entry(const std::string& id) const {
  const auto overlay = overlays_.find(id);
  const auto entry = base_->entries.find(id);
  if (overlay == overlays_.end() || entry == base_->entries.end()) return nullptr;
  return overlay->second->removed == entry->second->identity.entry ? entry->second : nullptr;
}

EntryPtr LivePolicy::entry_of(const std::string& id) const {
  const auto found = base_->entries.find(id);
  if (found != base_->entries.end() && !removed_entry(id)) return found->second;
  const auto put = put_.find(id);
  return put == put_.end() ? nullptr : put->second;
}

// The files or the cards have changed since the overlays were made.
void LivePolicy::inherit_overlays(
    const std::map<std::string, std::optional<AgentIdentity>>& before) {
  read_all_cards();
  for (const auto& [id, identity] : before) {
    const auto found = overlays_.find(id);
    if (found == overlays_.end()) continue;
    AgentOverlay next = inherit(*found->second, identity, identity_of(entry_of(id)));
    // A removal applies to one entry: a new entry in its place is in force.
    if (!removed_entry(id)) next.removed.clear();
    const AgentOverlay& old = *found->second;
    const bool is_same = next.grants.size() == old.grants.size() &&
                         next.denied.size() == old.denied.size() && next.mode == old.mode &&
                         next.removed == old.removed;
    if (!is_same) set_overlay(id, std::make_shared<const AgentOverlay>(std::move(next)));
  }
}

// Starts from the files' claims: releases those of removed entries, then adds the cards.
void LivePolicy::read_all_cards() {
  claims_ = base_->loaded.claims;
  for (const auto& [id, overlay] : overlays_) {
    if (const auto entry = removed_entry(id)) claims_.release(entry->settings);
  }
  put_.clear();
  refused_.clear();
  for (const auto& [id, card] : cards_) {
    auto reading = read_put_card(*card, base_->loaded.settings, claims_, base_->shared);
    if (reading.entry) {
      put_[id] = std::move(reading.entry);
    } else {
      refused_[id] = std::move(reading.problems);
    }
  }
}

void LivePolicy::set_overlay(const std::string& id, AgentOverlayPtr overlay) {
  if (overlay && !overlay->is_empty()) {
    overlays_[id] = std::move(overlay);
  } else {
    overlays_.erase(id);
  }
}

void LivePolicy::drop_card(const std::string& id) {
  if (const auto put = put_.find(id); put != put_.end()) {
    claims_.release(put->second->settings);
    put_.erase(put);
  }
  refused_.erase(id);
  cards_.erase(id);
}

Outcome<void> LivePolicy::set_card(const std::string& id, const PutCardPtr& card) {
  const auto old = put_.find(id);
  const EntryPtr before = old == put_.end() ? nullptr : old->second;
  if (before) claims_.release(before->settings);
  auto reading = read_put_card(*card, base_->loaded.settings, claims_, base_->shared);
  if (!reading.entry) {
    config::Diagnostics none;
    if (before) claims_.claim(before->settings, none);
    return Failure{reading.is_taken ? ErrorCode::conflict : ErrorCode::bad_request,
                   reading.problems.text()};
  }
  put_[id] = std::move(reading.entry);
  refused_.erase(id);
  cards_[id] = card;
  return boost::system::in_place_value;
}

Outcome<Edit> LivePolicy::apply(const Edit& edit) {
  Edit undo;
  std::set<std::string> touched{edit.touched.begin(), edit.touched.end()};
  for (const auto& [id, overlay] : edit.agents) {
    const auto old = overlays_.find(id);
    undo.agents[id] = old == overlays_.end() ? nullptr : old->second;
    const EntryPtr was_removed = removed_entry(id);
    set_overlay(id, overlay);
    const EntryPtr is_removed = removed_entry(id);
    config::Diagnostics none;
    if (is_removed && !was_removed) claims_.release(is_removed->settings);
    if (was_removed && !is_removed) claims_.claim(was_removed->settings, none);
    touched.insert(id);
  }
  for (const auto& [id, card] : edit.cards) {
    const auto old = cards_.find(id);
    undo.cards[id] = old == cards_.end() ? nullptr : old->second;
    touched.insert(id);
    if (!card) {
      drop_card(id);
    } else if (auto done = set_card(id, card); !done) {
      undo.cards.erase(id);
      static_cast<void>(apply(undo));  // undo the finished part
      return done.error();
    }
  }
  undo.touched.assign(touched.begin(), touched.end());
  for (const auto& id : touched) {
    if (const auto found = running_.find(id); found != running_.end()) {
      undo.accounts[id] = found->second.account;
    }
    const auto kept = edit.accounts.find(id);
    refresh(id, kept == edit.accounts.end() ? nullptr : kept->second);
  }
  if (edit.mode) {
    undo.mode = mode_;
    mode_ = *edit.mode;
  }
  if (edit.fleet_offline) undo.fleet_offline = std::exchange(fleet_offline_, *edit.fleet_offline);
  if (edit.mode || edit.fleet_offline) refresh_all();
  for (const auto& [id, more] : edit.budgets) {
    const auto found = running_.find(id);
    if (found == running_.end()) continue;
    add_to(found->second.account->bytes_up, more.up);
    add_to(found->second.account->bytes_down, more.down);
    Edit::Budgets& back = undo.budgets[id] = {-more.up, -more.down};
    for (const auto& [host, amounts] : more.hosts) {
      const auto usage = found->second.account->hosts.find(host);
      if (usage == found->second.account->hosts.end()) continue;
      add_to(usage->second->requests, amounts.requests);
      add_to(usage->second->tokens, amounts.tokens);
      usage->second->owed_tokens += amounts.owed_tokens;
      Edit::HostAmounts& opposite = back.hosts[host];
      opposite = {-amounts.requests, -amounts.tokens, -amounts.owed_tokens};
      if (amounts.minute) {
        usage->second->minute.add(*amounts.minute);
      } else {
        opposite.minute = usage->second->minute.clear();
      }
    }
  }
  return undo;
}

FilePolicyPtr LivePolicy::rebase(FilePolicyPtr base) {
  std::map<std::string, std::optional<AgentIdentity>> before;
  for (const auto& [id, overlay] : overlays_) before[id] = identity_of(entry_of(id));
  std::swap(base, base_);
  inherit_overlays(before);
  refresh_all();
  return base;
}

void LivePolicy::refresh_all() {
  std::set<std::string> ids;
  for (const auto& [id, running] : running_) ids.insert(id);
  for (const auto& [id, entry] : base_->entries) ids.insert(id);
  for (const auto& [id, entry] : put_) ids.insert(id);
  for (const auto& id : ids) refresh(id);
}

void LivePolicy::refresh(const std::string& id, std::shared_ptr<acl::Account> account) {
  EntryPtr entry = entry_of(id);
  if (!entry) {
    running_.erase(id);
    return;
  }
  Running& now = running_[id];
  if (!now.entry || !now.entry->identity.is_same_agent(entry->identity)) {
    now = {};
    now.account = std::move(account);
    if (!now.account) {
      now.account = std::make_shared<acl::Account>();
      set_budgets(*entry->policy, 0, 0, *now.account);
    }
  } else if (now.entry != entry) {
    change_budget(now.policy->bytes_up, entry->policy->bytes_up, now.account->bytes_up);
    change_budget(now.policy->bytes_down, entry->policy->bytes_down, now.account->bytes_down);
  }
  const auto found = overlays_.find(id);
  AgentOverlayPtr overlay = found == overlays_.end() ? nullptr : found->second;
  // An unchanged agent keeps its policy, and its connections are not checked again.
  if (now.policy && now.entry == entry && now.overlay == overlay && now.global == mode()) return;
  auto policy = lay_over(*entry->policy, mode(), entry->settings.mode, overlay.get());
  now.entry = std::move(entry);
  now.overlay = std::move(overlay);
  now.global = mode();
  if (policy) {
    count_hosts(now.policy.get(), **policy, *now.account);
    (*policy)->account = now.account;
    now.policy = std::move(*policy);
    return;
  }
  // The regexes cannot be compiled together: refuse everything rather than allow too much.
  auto closed = std::make_shared<acl::AgentPolicy>(*now.entry->policy);
  closed->mode = acl::Mode::offline;
  count_hosts(now.policy.get(), *closed, *now.account);
  closed->account = now.account;
  now.policy = std::move(closed);
}

const std::shared_ptr<const acl::Snapshot>& LivePolicy::publish() {
  std::vector<std::shared_ptr<const acl::AgentPolicy>> agents;
  agents.reserve(running_.size());
  for (const auto& [id, running] : running_) agents.push_back(running.policy);
  snapshot_ = std::make_shared<acl::Snapshot>(snapshot_->generation() + 1, std::move(agents));
  return snapshot_;
}

const LivePolicy::Running* LivePolicy::find(std::string_view id) const {
  const auto found = running_.find(id);
  return found == running_.end() ? nullptr : &found->second;
}

AgentOverlayPtr LivePolicy::overlay(const std::string& id) const {
  static const auto none = std::make_shared<const AgentOverlay>();
  const auto found = overlays_.find(id);
  return found == overlays_.end() ? none : found->second;
}

acl::Mode LivePolicy::mode() const noexcept {
  if (fleet_offline_) return acl::Mode::offline;
  return mode_.value_or(base_->loaded.settings.egress.mode);
}

std::optional<UnixMicros> LivePolicy::next_expiry(UnixMicros now) const {
  std::optional<UnixMicros> first;
  const auto consider = [&](const std::optional<UnixMicros>& when) {
    if (when && *when > now && (!first || *when < *first)) first = when;
  };
  for (const auto& [id, running] : running_) {
    consider(running.policy->expires);
    for (const acl::Grant& grant : running.policy->grants) consider(grant.expires);
  }
  return first;
}

SavedState LivePolicy::save() const {
  SavedState state;
  state.mode = mode_;
  for (const auto& [id, card] : cards_) {
    if (card->is_kept) state.cards.push_back(*card);
  }
  for (const auto& [id, overlay] : overlays_) {
    if (running_.count(id) != 0) continue;  // handled below
    state.agents.push_back({id, {}, *overlay, 0, 0, {}});
  }
  for (const auto& [id, running] : running_) {
    const auto card = cards_.find(id);
    if (card != cards_.end() && !card->second->is_kept) continue;
    const auto overlay = overlays_.find(id);
    const bool is_changed = overlay != overlays_.end();
    const auto used_up = recorded_of(running.policy->bytes_up, running.account->bytes_up);
    const auto used_down = recorded_of(running.policy->bytes_down, running.account->bytes_down);
    auto hosts = save_hosts(*running.policy);
    if (!is_changed && used_up == 0 && used_down == 0 && hosts.empty()) continue;
    state.agents.push_back({id, running.entry->identity,
                            is_changed ? *overlay->second : AgentOverlay{}, used_up, used_down,
                            std::move(hosts)});
  }
  return state;
}

}  // namespace stile::control
