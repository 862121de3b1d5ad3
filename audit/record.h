// Record: one line of the audit log before it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/decision.h"

namespace stile::audit {

enum class Event : std::uint8_t {
  open,
  close,
  deny,
  ask,
  answer,
  policy,
  grant,
  start,
  stop,
  audit_gap,
};
[[nodiscard]] std::string_view text(Event event) noexcept;

// The detail of a `start` by a process that took over from another one: connections of the process
// before it are still open, and their numbers go on.
inline constexpr std::string_view taken_over = "taken over";

// Views point into the session that writes the record; they need to live only until it is
// formatted. Empty views, zero numbers and unset optionals are left out of the line.
struct Record {
  Event event = Event::deny;
  std::int64_t time_us = 0;  // Unix time
  std::string_view agent;
  std::string_view src;  // address:port
  std::uint64_t conn = 0;
  std::string_view method;
  std::string_view scheme;
  std::string_view host;  // canonical if possible; raw if refused as malformed
  std::uint16_t port = 0;
  std::string_view path;  // without query and fragment
  std::optional<acl::Verdict> verdict;
  acl::Reason reason = acl::Reason::none;
  std::string_view rule;
  int status = 0;
  std::string_view origin;
  std::string_view sni;
  std::string_view tls;      // "opened": Stile is an end of it
  std::string_view secret;   // the names of those that were put in
  std::string_view scan;     // the names of those that found something
  std::string_view request;  // the id of an ask
  std::optional<std::uint64_t> bytes_up, bytes_down;
  std::optional<std::uint64_t> duration_ms;
  std::vector<std::string_view> stripped;
  std::uint64_t count = 0;
  std::uint64_t policy = 0;          // generation
  std::string_view version, config;  // of start: the daemon's version, the digest of its config
  std::string_view torn;             // of audit-gap: hash of the torn bytes
  std::string_view actor;
  std::string_view detail;  // of policy, grant and answer: the change, for people
};

}  // namespace stile::audit
