// Grants: how `allow` and `revoke` change an agent's overlay.
#include "control/grants.h"

#include <algorithm>

#include "acl/localhost.h"
#include "base/quoted.h"
#include "control/coverage.h"

namespace stile::control {
namespace {

bool is_covered(const acl::Pattern& pattern, const std::vector<acl::Pattern>& by) {
  return std::any_of(by.begin(), by.end(),
                     [&](const acl::Pattern& wide) { return covers(wide, pattern); });
}

// A wider revocation blocks a narrower grant, as a deny rule does.
Outcome<void> check_deny(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                         const acl::Pattern& pattern) {
  if (const auto rule = denied_wholly(entry.deny, pattern)) {
    return Failure{ErrorCode::denied_by_rule,
                   pattern.text() + " is denied by " + *rule + "; no grant beats a deny rule"};
  }
  for (const auto& denied : overlay.denied) {
    if (covers(denied, pattern)) {
      return Failure{ErrorCode::denied_by_rule,
                     pattern.text() + " is denied since " + denied.text() +
                         " was revoked; allow that pattern to undo it",
                     "stile allow " + entry.id + ' ' + shell_word(denied.text())};
    }
  }
  return boost::system::in_place_value;
}

Outcome<void> check_localhost(const acl::AgentPolicy& entry, const acl::Pattern& pattern) {
  const bool is_name = pattern.kind != acl::Pattern::Kind::regex;
  if (!is_name || !acl::is_localhost(pattern.name) || acl::reaches_loopback(entry)) {
    return boost::system::in_place_value;
  }
  return Failure{ErrorCode::bad_request,
                 pattern.text() +
                     " can never work: localhost is this host itself, to which Stile does not "
                     "connect; give the service another name, and its address to "
                     "private_exceptions (see \"A service of this host\" in docs/run.md)"};
}

// Removes the hosts from the grants. The rest of a grant keeps its lease.
Outcome<void> end_grants(const std::vector<acl::Pattern>& hosts, Revocation& revocation) {
  std::vector<GrantState> kept;
  for (auto& grant : revocation.overlay.grants) {
    const auto removed = std::erase_if(
        grant.hosts, [&](const acl::Pattern& pattern) { return is_covered(pattern, hosts); });
    if (grant.hosts.empty()) {
      revocation.ended.push_back(grant.id);
      continue;
    }
    if (removed > 0) {
      if (const auto made = make_grant(grant); !made) {
        return Failure{ErrorCode::internal, made.error().message};
      }
    }
    kept.push_back(std::move(grant));
  }
  revocation.overlay.grants = std::move(kept);
  return boost::system::in_place_value;
}

// Removes the revocations of these hosts and of everything that they cover; returns them.
std::vector<acl::Pattern> restore(const std::vector<acl::Pattern>& hosts, AgentOverlay& overlay) {
  std::vector<acl::Pattern> restored;
  std::erase_if(overlay.denied, [&](const acl::Pattern& denied) {
    if (!is_covered(denied, hosts)) return false;
    restored.push_back(denied);
    return true;
  });
  return restored;
}

// A grant with a used-up request count still covers its open requests. Those also hold the lease,
// besides the overlay, its copy and the policy in force.
bool is_used_up(const GrantState& grant) {
  constexpr long own_holders = 3;
  const auto& lease = grant.made.lease;
  return lease->bytes_up.is_spent() ||
         (lease->requests.is_spent() && lease.use_count() <= own_holders);
}

bool is_still_allowed(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                      const acl::Pattern& host) {
  if (allows_any_of(entry.allow, host)) return true;
  return std::any_of(overlay.grants.begin(), overlay.grants.end(), [&](const GrantState& grant) {
    return allows_any_of({{grant.made.rules}, grant.made.regexes}, host);
  });
}

}  // namespace

Outcome<Permission> allow(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                          const ControlRequest& request, const Asked& asked) {
  Permission permission{overlay, {}, false};
  AgentOverlay& next = permission.overlay;
  const auto restored = restore(request.hosts, next);
  for (const auto& pattern : restored) permission.restored.push_back(pattern.text());
  GrantState grant;
  for (const auto& pattern : request.hosts) {
    if (auto free = check_deny(entry, next, pattern); !free) return free.error();
    if (auto possible = check_localhost(entry, pattern); !possible) return possible.error();
    if (is_covered(pattern, restored) && is_still_allowed(entry, next, pattern)) continue;
    grant.hosts.push_back(pattern);
  }
  if (grant.hosts.empty()) return permission;
  if (next.grants.size() >= max_grants_per_agent) std::erase_if(next.grants, is_used_up);
  if (next.grants.size() >= max_grants_per_agent) {
    return Failure{ErrorCode::conflict, "the agent has 256 grants already; revoke some"};
  }
  grant.id = asked.id;
  grant.made.only = asked.only;
  grant.created = asked.now;
  if (request.ttl_seconds) grant.expires = asked.now + *request.ttl_seconds * 1'000'000;
  grant.max_requests = request.max_requests;
  grant.bytes_up = request.bytes_up;
  grant.reason = request.reason;
  grant.actor = asked.actor;
  if (const auto made = make_grant(grant); !made) {
    return Failure{ErrorCode::bad_request, made.error().message};
  }
  next.grants.push_back(std::move(grant));
  permission.is_granted = true;
  return permission;
}

Outcome<Revocation> revoke(const acl::AgentPolicy& entry, const AgentOverlay& overlay,
                           const ControlRequest& request) {
  Revocation revocation{overlay, {}, {}};
  AgentOverlay& next = revocation.overlay;
  if (!request.grant.empty()) {
    const auto ended =
        std::erase_if(next.grants, [&](const auto& grant) { return grant.id == request.grant; });
    if (ended == 0) return Failure{ErrorCode::bad_request, "there is no grant with this id"};
    revocation.ended.push_back(request.grant);
    return revocation;
  }
  if (auto done = end_grants(request.hosts, revocation); !done) return done.error();
  for (const auto& host : request.hosts) {
    if (!is_still_allowed(entry, next, host) || is_covered(host, next.denied)) continue;
    // A wider revocation makes narrower ones redundant.
    std::erase_if(next.denied, [&](const acl::Pattern& denied) { return covers(host, denied); });
    next.denied.push_back(host);
    revocation.denied.push_back(host.text());
  }
  if (next.denied.size() > max_denied_per_agent) {
    return Failure{ErrorCode::conflict, "the agent has 4096 revoked hosts; change its entry"};
  }
  return revocation;
}

AgentOverlay without_expired(const AgentOverlay& overlay, UnixMicros now,
                             std::vector<std::string>& ended) {
  AgentOverlay next = overlay;
  std::erase_if(next.grants, [&](const GrantState& grant) {
    const bool is_over = grant.expires && *grant.expires <= now;
    if (is_over) ended.push_back(grant.id);
    return is_over;
  });
  return next;
}

}  // namespace stile::control
