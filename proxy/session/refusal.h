// Refusal: the answer to a request that was not let through. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/pattern.h"

namespace stile::session {

// How an operator lets more through.
enum class GrantedBy : std::uint8_t {
  command,  // stile allow AGENT PATTERN
  flag,     // stile run --allow PATTERN
  nobody,   // the rules are an ordered list, which nobody can add to
};

struct Refusal {
  acl::Reason reason = acl::Reason::internal_error;
  std::string_view agent;  // "-" for nobody
  std::string_view host;   // canonical, or as sent if it was not understood
  std::uint16_t port = 0;
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string_view contact;
  GrantedBy granted_by = GrantedBy::command;
  bool keep_alive = false;
  bool is_head = false;  // the answer to HEAD has no body
};

// The whole answer. Nothing of the request but its host and port is in it, and nothing of any
// policy.
[[nodiscard]] std::string write_refusal(const Refusal& refusal);

// "stile allow alpha example.com": what would let it through; empty where no grant could.
[[nodiscard]] std::string allow_hint(const Refusal& refusal);
// One sentence that says what, for whom, why and what to do: a model or a person may see nothing
// else of the answer. `hint`: of allow_hint.
[[nodiscard]] std::string refusal_message(const Refusal& refusal, std::string_view hint);

}  // namespace stile::session
