// Overlay: what was changed through the control socket, kept apart from what the files say. A pure
// function lays it over an agent's entry.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/settings.h"

namespace stile::control {

// What an operator gave an agent on top of its policy.
struct GrantState {
  std::string id;
  std::vector<acl::Pattern> hosts;
  acl::UnixMicros created = 0;
  std::optional<acl::UnixMicros> expires;
  std::optional<std::uint64_t> max_requests, bytes_up;
  std::string reason, actor;
  acl::Grant made;  // of the hosts, with what is left; the lease lives as long as the grant
};

// Compiles `made`; a grant that has a lease already keeps it. The error is a regex's.
[[nodiscard]] Result<void> make_grant(GrantState& grant);
// How much of a limited count is used up.
[[nodiscard]] std::uint64_t used_of(const std::optional<std::uint64_t>& total,
                                    const acl::Allowance& left) noexcept;
// How much the state file has to say was used: also what workers may take from now on.
[[nodiscard]] std::uint64_t recorded_of(const std::optional<std::uint64_t>& total,
                                        const acl::Allowance& left) noexcept;
// Begins a count of which so much was used.
void start_count(acl::Allowance& left, const std::optional<std::uint64_t>& total,
                 std::uint64_t used) noexcept;

// The changes to one agent. Values: a change makes a new one.
struct AgentOverlay {
  std::optional<acl::Mode> mode;
  std::string removed;               // digest of the file's entry that does not count; "": none
  std::vector<acl::Pattern> denied;  // revoked although the policy itself allows them
  std::vector<GrantState> grants;
  [[nodiscard]] bool is_empty() const noexcept {
    return !mode && removed.empty() && denied.empty() && grants.empty();
  }
};
using AgentOverlayPtr = std::shared_ptr<const AgentOverlay>;

// An agent of put-agent or adopt-listener.
struct PutCard {
  std::string text;
  acl::UnixMicros received = 0;  // where its ttl_seconds begin
  bool is_kept = true;           // in the state directory; an adopted listener's goes with it
};
using PutCardPtr = std::shared_ptr<const PutCard>;

// What makes an agent this agent and no other, and what makes its entry this entry.
struct Identity {
  std::string instance;
  std::vector<std::string> sources;
  std::string entry;  // digest of all keys but when it expires
  [[nodiscard]] bool is_same_agent(const Identity& other) const {
    return instance == other.instance && sources == other.sources;
  }
};
[[nodiscard]] Identity identify(const config::AgentSettings& agent);

// What stays of the changes when the agent's entry becomes another one (or none). Grants go with
// the agent; revoked hosts with the entry; a mode with the agent too, but for `offline`: a kill
// switch is not undone by a new card.
[[nodiscard]] AgentOverlay inherit(const AgentOverlay& overlay,
                                   const std::optional<Identity>& before,
                                   const std::optional<Identity>& after);

// The policy in force. `entry` is the agent's entry alone, `global` and `own` are the modes as the
// files have them, or as they were set through the socket.
[[nodiscard]] Result<std::shared_ptr<acl::AgentPolicy>> lay_over(const acl::AgentPolicy& entry,
                                                                 acl::Mode global,
                                                                 std::optional<acl::Mode> own,
                                                                 const AgentOverlay* overlay);

}  // namespace stile::control
