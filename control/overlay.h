// Overlay: the changes made through the control socket, kept apart from the files. A pure function
// applies it to an agent's entry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/settings.h"

namespace stile::control {

// A grant that an operator added to an agent's policy.
struct GrantState {
  std::string id;
  std::vector<acl::Pattern> hosts;
  UnixMicros created = 0;
  std::optional<UnixMicros> expires;
  std::optional<std::uint64_t> max_requests, bytes_up;
  std::string reason, actor;
  acl::Grant made;  // compiled, with what is left; the lease lives as long as the grant
};

// Compiles `made`; an existing lease is kept. The error is that of a regex.
[[nodiscard]] Result<void> make_grant(GrantState& grant);
// The used part of a limited count.
[[nodiscard]] std::uint64_t used_of(const std::optional<std::uint64_t>& total,
                                    const acl::Allowance& left) noexcept;
// The amount that the state file must count as used: includes what workers may take from now on.
[[nodiscard]] std::uint64_t recorded_of(const std::optional<std::uint64_t>& total,
                                        const acl::Allowance& left) noexcept;
// Starts a count of which this much is already used.
void start_count(acl::Allowance& left, const std::optional<std::uint64_t>& total,
                 std::uint64_t used) noexcept;

// The changes to one agent. Immutable: a change makes a new object.
struct AgentOverlay {
  std::optional<acl::Mode> mode;
  std::string removed;               // digest of the removed entry of the file; "": none
  std::vector<acl::Pattern> denied;  // revoked although the policy allows them
  std::vector<GrantState> grants;
  [[nodiscard]] bool is_empty() const noexcept {
    return !mode && removed.empty() && denied.empty() && grants.empty();
  }
};
using AgentOverlayPtr = std::shared_ptr<const AgentOverlay>;

// An agent of put-agent or adopt-listener.
struct PutCard {
  std::string text;
  UnixMicros received = 0;  // the start of its ttl_seconds
  bool is_kept = true;      // saved in the state directory; that of an adopted listener is not
};
using PutCardPtr = std::shared_ptr<const PutCard>;

// Identifies an agent and its entry.
struct AgentIdentity {
  std::string instance;
  std::vector<std::string> sources;
  std::string entry;  // digest of all keys except its expiry
  [[nodiscard]] bool is_same_agent(const AgentIdentity& other) const {
    return instance == other.instance && sources == other.sources;
  }
};
[[nodiscard]] AgentIdentity identify(const config::AgentSettings& agent);

// The changes that remain when the agent's entry is replaced or removed. Grants end with the agent,
// revoked hosts with the entry. A mode also ends with the agent, except `offline`: a new card does
// not undo a kill switch.
[[nodiscard]] AgentOverlay inherit(const AgentOverlay& overlay,
                                   const std::optional<AgentIdentity>& before,
                                   const std::optional<AgentIdentity>& after);

// The policy in force. `entry` is the agent's entry alone; `global` and `own` are the modes from
// the files, or as set through the socket.
[[nodiscard]] Result<std::shared_ptr<acl::AgentPolicy>> lay_over(const acl::AgentPolicy& entry,
                                                                 acl::Mode global,
                                                                 std::optional<acl::Mode> own,
                                                                 const AgentOverlay* overlay);

}  // namespace stile::control
