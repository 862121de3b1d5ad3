// Verdict and Reason: the closed lists shared by clients, audit log and metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stile::acl {

enum class Verdict : std::uint8_t { deny, allow, would_deny };

// In the order of the steps that return them. The text (with `-`) is public.
enum class Reason : std::uint8_t {
  none,
  unknown_agent,
  agent_expired,
  offline,
  ip_literal,
  bad_request,
  port_not_allowed,
  host_denied,
  host_not_allowed,
  rate_limited,
  too_many_connections,
  budget_exhausted,
  dns_failure,
  address_forbidden,
  origin_unreachable,
  origin_timeout,
  origin_bad_response,
  not_tls,
  sni_missing,
  sni_mismatch,
  ech_refused,
  client_hello_timeout,
  client_tls_failed,
  no_application_protocol,
  host_mismatch,
  method_not_allowed,
  path_not_allowed,
  upgrade_not_allowed,
  body_too_large,
  ref_not_allowed,
  credential_refused,
  placeholder_misplaced,
  secret_found,
  origin_certificate,
  audit_unavailable,
  overloaded,
  draining,
  header_timeout,
  header_too_large,
  internal_error,
  revoked,
  idle_timeout,
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(Reason::idle_timeout) + 1;

[[nodiscard]] std::string_view text(Verdict verdict) noexcept;
[[nodiscard]] std::string_view text(Reason reason) noexcept;
// The reason with that text; nullopt: none has it.
[[nodiscard]] std::optional<Reason> reason_named(std::string_view text) noexcept;
// The HTTP status of a refusal: 403 for most.
[[nodiscard]] int status(Reason reason) noexcept;
// One plain sentence for the operator.
[[nodiscard]] std::string_view sentence(Reason reason) noexcept;

}  // namespace stile::acl
