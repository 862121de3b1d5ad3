// judge_hello: step 10, the ClientHello that opens a tunnel. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "acl/decide.h"

namespace stile::acl {

// What is known of a tunnel's ClientHello. It is kept as long as the tunnel, so that the hello can
// be judged again under another policy; therefore it is small and holds no text.
struct HelloFacts {
  enum class State : std::uint8_t {
    unread,   // nothing was looked at: the policy did not ask for it
    late,     // it did not arrive in time
    not_tls,  // the client sent something else
    read,
  };
  State state = State::unread;
  bool has_sni = false;
  bool names_host = false;  // its server name is the host that was asked for
  bool has_ech = false;     // an encrypted hello, or GREASE for one: nobody can tell them apart
};

// The facts of a hello that was read. `sni` is its server name as sent; `asked` is the host of the
// request.
[[nodiscard]] HelloFacts facts_of_hello(bool has_sni, std::string_view sni, bool has_ech,
                                        const Host& asked) noexcept;

// Whether the agent's `ech` lets a hello with ECH through on the way to this destination.
[[nodiscard]] bool allows_ech(const AgentPolicy& agent, const Decision& decision);

// Step 10. Turns a decision that passes into a refusal, or in observe mode into `would_deny`, with
// the first reason if there are several. A decision that does not ask for a hello stays as it is.
void judge_hello(const AgentPolicy& agent, const HelloFacts& hello, Decision& decision);

}  // namespace stile::acl
