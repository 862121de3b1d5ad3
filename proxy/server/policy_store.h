// PolicyStore: the config as it was read last, the agents' accounts, and the snapshot made of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "acl/policy.h"
#include "config/compile.h"
#include "config/load.h"

namespace stile::server {

class PolicyStore {
 public:
  static config::Checked<PolicyStore> open(std::optional<std::string> path);

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

  std::optional<std::string> path_;
  std::unique_ptr<config::Loaded> loaded_;
  std::unique_ptr<config::Shared> shared_;
  std::shared_ptr<const acl::Snapshot> snapshot_ = std::make_shared<acl::Snapshot>();
};

}  // namespace stile::server
