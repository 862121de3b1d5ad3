// PolicyStore: the config as it was read last, the agents' accounts, and the snapshot made of both.
#include "proxy/server/policy_store.h"

#include <algorithm>

namespace stile::server {
namespace {

// The budget that is left when it changes from one total to another.
std::int64_t left_of(const std::optional<std::uint64_t>& total,
                     const std::optional<std::uint64_t>& old_total, const acl::Allowance& old) {
  if (!total) return acl::Allowance::unlimited;
  const auto all = static_cast<std::int64_t>(*total);
  if (!old_total) return all;
  const std::int64_t used = static_cast<std::int64_t>(*old_total) - old.left();
  return std::max<std::int64_t>(0, all - used);
}

// An agent that changed its instance or its source is another agent: it begins with a new account.
bool is_same_agent(const acl::AgentPolicy& a, const acl::AgentPolicy& b) {
  return a.id == b.id && a.instance == b.instance && a.sources == b.sources;
}

void check_restart_keys(const config::Settings& before, const config::Settings& now,
                        config::Diagnostics& problems) {
  const auto check = [&](bool same, const char* key) {
    if (!same) {
      problems.error({}, key, "this takes effect only when the daemon starts",
                     "restart stiled, or undo the change");
    }
  };
  const auto& a = before.server;
  const auto& b = now.server;
  check(a.workers == b.workers, "server.workers");
  check(a.listen == b.listen, "server.listen");
  check(a.metrics == b.metrics, "server.metrics");
  check(a.control == b.control && a.control_group == b.control_group &&
            a.read_only_group == b.read_only_group,
        "server.control");
  check(a.user == b.user, "server.user");
  check(a.state_dir == b.state_dir, "server.state_dir");
}

}  // namespace

config::Checked<PolicyStore> PolicyStore::open(std::optional<std::string> path) {
  return open([path = std::move(path)]() -> config::Checked<Reading> {
    auto loaded = config::load_or_default(path);
    if (!loaded) return loaded.error();
    auto shared = std::make_unique<config::Shared>(config::share(*loaded));
    auto agents = config::compile_all(*loaded, *shared);
    if (!agents) return agents.error();
    return Reading{std::move(*loaded), std::move(shared), std::move(*agents)};
  });
}

config::Checked<PolicyStore> PolicyStore::open(Reader reader) {
  PolicyStore store;
  store.reader_ = std::move(reader);
  if (auto done = store.read(); !done) return done.error();
  return store;
}

config::Checked<void> PolicyStore::read() {
  auto reading = reader_();
  if (!reading) return reading.error();
  if (loaded_) {
    config::Diagnostics problems;
    check_restart_keys(loaded_->settings, reading->loaded.settings, problems);
    if (problems.has_errors()) return problems;
  }
  loaded_ = std::make_unique<config::Loaded>(std::move(reading->loaded));
  shared_ = std::move(reading->shared);
  make_snapshot(reading->agents);
  return {};
}

config::Checked<std::shared_ptr<const acl::Snapshot>> PolicyStore::reload() {
  if (auto done = read(); !done) return done.error();
  return snapshot_;
}

void PolicyStore::make_snapshot(const Agents& compiled) {
  Agents agents;
  agents.reserve(compiled.size());
  for (const auto& fresh : compiled) {
    auto agent = std::make_shared<acl::AgentPolicy>(*fresh);
    const auto* before = snapshot_->by_id(agent->id);
    if (before != nullptr && is_same_agent(**before, *agent)) {
      const acl::AgentPolicy& old = **before;
      agent->account = old.account;
      agent->account->bytes_up.set(left_of(agent->bytes_up, old.bytes_up, old.account->bytes_up));
      agent->account->bytes_down.set(
          left_of(agent->bytes_down, old.bytes_down, old.account->bytes_down));
    } else {
      agent->account = std::make_shared<acl::Account>();
      const acl::Allowance none;
      agent->account->bytes_up.set(left_of(agent->bytes_up, {}, none));
      agent->account->bytes_down.set(left_of(agent->bytes_down, {}, none));
    }
    agents.push_back(std::move(agent));
  }
  snapshot_ = std::make_shared<acl::Snapshot>(snapshot_->generation() + 1, std::move(agents));
}

std::optional<acl::UnixMicros> PolicyStore::next_expiry(acl::UnixMicros now) const {
  std::optional<acl::UnixMicros> first;
  const auto consider = [&](const std::optional<acl::UnixMicros>& when) {
    if (when && *when > now && (!first || *when < *first)) first = when;
  };
  for (const auto& agent : snapshot_->agents()) {
    consider(agent->expires);
    for (const acl::Grant& grant : agent->grants) consider(grant.expires);
  }
  return first;
}

}  // namespace stile::server
