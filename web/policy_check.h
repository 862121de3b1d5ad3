// PolicyCheck: what another config would change: its rules, the requests of the log, the open
// connections. Texts go in, JSON comes out; no file and no socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"
#include "base/result.h"
#include "cli/seen.h"
#include "config/capability.h"

namespace stile::web {

class PolicyCheck {
 public:
  // An agent can request any number of names; more are only counted.
  static constexpr std::size_t max_targets = 20'000;
  static constexpr std::size_t max_rows = 200;  // of each list in the answer

  // Two configs that need no other file, as the daemon's action `config` writes them. An error
  // lists what is wrong with the new one.
  static Result<PolicyCheck> make(std::string_view before, std::string_view after,
                                  const config::CapabilityFiles& capabilities);

  void add_line(std::string_view line);           // of the audit log
  void add_connections(std::string_view answer);  // of the action `connections`
  [[nodiscard]] std::string json() const;

 private:
  using Policies = std::shared_ptr<const acl::Snapshot>;
  struct Cut {
    std::string agent, host;
    std::int64_t port = 0;
  };
  PolicyCheck(Policies before, Policies after)
      : before_{std::move(before)}, after_{std::move(after)} {}
  [[nodiscard]] bool refuses(const Cut& connection) const;

  Policies before_, after_;
  cli::Seen seen_;
  std::uint64_t left_out_ = 0;  // lines with more targets than are kept
  std::vector<Cut> cut_;
  std::size_t cut_count_ = 0;
};

}  // namespace stile::web
