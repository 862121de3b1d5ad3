// PolicyStore: the config as it was read last, the agents' accounts, and the snapshot made of both.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "acl/policy.h"
#include "config/compile.h"
#include "config/load.h"

namespace stile::server {

// A config as it was read: its settings, and the policies made from it.
struct Reading {
  config::Loaded loaded;
  std::unique_ptr<config::Shared> shared;
  std::vector<std::shared_ptr<const acl::AgentPolicy>> agents;
};
using Reader = std::function<config::Checked<Reading>()>;

class PolicyStore {
 public:
  // Reads a stile.toml; without a path the usual one, or the embedded default.
  static config::Checked<PolicyStore> open(std::optional<std::string> path);
  // Reads whatever `reader` reads, now and at each reload.
  static config::Checked<PolicyStore> open(Reader reader);

  // Reads everything anew and makes a snapshot of it, or changes nothing and says all that is
  // wrong.
  [[nodiscard]] config::Checked<std::shared_ptr<const acl::Snapshot>> reload();

  [[nodiscard]] const std::shared_ptr<const acl::Snapshot>& snapshot() const noexcept {
    return snapshot_;
  }
  [[nodiscard]] const config::Settings& settings() const noexcept { return loaded_->settings; }
  [[nodiscard]] const config::Loaded& loaded() const noexcept { return *loaded_; }
  // When the first agent or grant in force runs out, so that what it has open can be closed.
  [[nodiscard]] std::optional<acl::UnixMicros> next_expiry(acl::UnixMicros now) const;

 private:
  using Agents = std::vector<std::shared_ptr<const acl::AgentPolicy>>;
  [[nodiscard]] config::Checked<void> read();
  void make_snapshot(const Agents& compiled);

  Reader reader_;
  std::unique_ptr<config::Loaded> loaded_;
  std::unique_ptr<config::Shared> shared_;
  std::shared_ptr<const acl::Snapshot> snapshot_ = std::make_shared<acl::Snapshot>();
};

}  // namespace stile::server
