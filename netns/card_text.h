// card_text: the card that binds an agent to its address, made from the operator's input.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/diagnostics.h"
#include "config/node.h"
#include "netns/agent.h"

namespace stile::netns {

// The options of `create` for the agent's policy.
struct CardRequest {
  std::optional<std::string> file;  // --card; its text is in `text`
  std::string text;
  std::vector<std::string> allow;  // --allow
  std::optional<std::chrono::seconds> ttl;
  [[nodiscard]] bool says_nothing() const { return !file && allow.empty() && !ttl; }
};

// The operator's card as a document, or one with only the id. A card for another agent is an error.
[[nodiscard]] config::Checked<config::Node> read_template(const CardRequest& request,
                                                          const std::string& id);

// The card in a record, to be changed by a request that has no card.
[[nodiscard]] config::Checked<config::Node> read_bound_card(const std::string& text);

// The single address that a card requests; nullopt: none. Several addresses or a prefix are an
// error: a namespace has one address.
[[nodiscard]] Result<std::optional<acl::Address>> address_in(const config::Node& card);

// The card as the daemon will read it, one line, checked by the daemon's own parser. Its lifetime
// begins now unless the card sets a start time: the template may be years old.
[[nodiscard]] config::Checked<std::string> bound_card(config::Node card, const CardRequest& request,
                                                      const Agent& agent, UnixMicros now);

}  // namespace stile::netns
