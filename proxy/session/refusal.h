// Refusal: the answer to a refused request. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/decision.h"
#include "acl/pattern.h"
#include "acl/remedy.h"
#include "proxy/session/ask_board.h"

namespace stile::session {

// How an operator allows more.
enum class GrantedBy : std::uint8_t {
  command,  // stile allow AGENT PATTERN
  flag,     // stile run --allow PATTERN
  nothing,  // the rules are an ordered list, which takes no grants
};

struct Refusal {
  acl::Reason reason = acl::Reason::internal_error;
  std::string_view agent;  // "-" if there is none
  std::string_view host;   // canonical, or as sent if it was invalid
  std::uint16_t port = 0;
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string_view fault;                    // as in acl::Decision; may be empty
  std::int64_t retry_after_seconds = 0;      // of budget-exhausted; 0: unknown
  const acl::AgentPolicy* policy = nullptr;  // null: unknown
  std::string_view contact;
  GrantedBy granted_by = GrantedBy::command;
  const AskTicket* ask = nullptr;  // a person was asked; null: none was
  bool keep_alive = false;
  bool is_head = false;  // the answer to HEAD has no body
};

// The whole answer. It contains nothing of the request but its host and port, and nothing of any
// policy but, for a host that looks like an allowed name, that name.
[[nodiscard]] std::string write_refusal(const Refusal& refusal);

[[nodiscard]] acl::Remedy remedy_of(const Refusal& refusal);
// "stile allow alpha example.com": the command that would allow it; empty if no grant could.
[[nodiscard]] std::string allow_hint(const Refusal& refusal, const acl::Remedy& remedy);
// One sentence with what was refused, for whom, why and what to do: a model or a person may see
// only this part of the answer. `hint`: from allow_hint.
[[nodiscard]] std::string refusal_message(const Refusal& refusal, const acl::Remedy& remedy,
                                          std::string_view hint);

}  // namespace stile::session
