// judge_hello: step 10, the ClientHello that opens a tunnel. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "acl/decide.h"

namespace stile::acl {

// The facts about a tunnel's ClientHello. Kept as long as the tunnel, so that the hello can be
// judged again under a new policy. Therefore it is small and holds no text.
struct HelloFacts {
  enum class State : std::uint8_t {
    unread,   // not read: the policy did not require it
    late,     // it did not arrive in time
    not_tls,  // the client sent something else
    read,
  };
  State state = State::unread;
  bool has_sni = false;
  bool names_host = false;  // its server name is the requested host
  bool has_ech = false;     // ECH, or GREASE for it: they cannot be told apart
};

// Extracts the facts from a hello. `sni` is its server name as sent; `asked` is the host of the
// request.
[[nodiscard]] HelloFacts facts_of_hello(bool has_sni, std::string_view sni, bool has_ech,
                                        const Host& asked) noexcept;

// Whether the agent's `ech` setting allows a hello with ECH to this destination.
[[nodiscard]] bool allows_ech(const AgentPolicy& agent, const Decision& decision);

// Step 10. Turns a passing decision into a refusal, or in observe mode into `would_deny`. If there
// are several reasons, the first one is given. A decision that requires no hello is not changed.
void judge_hello(const AgentPolicy& agent, const HelloFacts& hello, Decision& decision);

}  // namespace stile::acl
