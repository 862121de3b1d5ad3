// card_text: the card that binds an agent to its address, made from what the operator gave.
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

// What `create` was told about the agent's policy.
struct CardRequest {
  std::optional<std::string> file;  // --card; its text is in `text`
  std::string text;
  std::vector<std::string> allow;  // --allow
  std::optional<std::chrono::seconds> ttl;
  [[nodiscard]] bool says_nothing() const { return !file && allow.empty() && !ttl; }
};

// The operator's card as a document, or one with nothing but the id. It is for that agent or it is
// an error.
[[nodiscard]] config::Checked<config::Node> read_template(const CardRequest& request,
                                                          const std::string& id);

// The card that a record has, to be changed by a request without a card of its own.
[[nodiscard]] config::Checked<config::Node> read_bound_card(const std::string& text);

// The one address that a card asks for; nullopt: it asks for none. More than one, or a prefix, is
// an error: a namespace has one address.
[[nodiscard]] Result<std::optional<acl::Address>> address_in(const config::Node& card);

// The card as the daemon will read it, one line, checked by the daemon's own reader. Its life
// begins now, unless the card says when it began: the template may be years old.
[[nodiscard]] config::Checked<std::string> bound_card(config::Node card, const CardRequest& request,
                                                      const Agent& agent, acl::UnixMicros now);

}  // namespace stile::netns
