// create: creates an agent's namespace, completely or not at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "netns/apply.h"
#include "netns/card_text.h"
#include "netns/host.h"

namespace stile::netns {

struct CreateRequest {
  std::string id;
  CardRequest card;
  bool is_uncaptured = false;  // no name server and no default route, whatever the config says
  std::string instance = {};   // not empty: the agent must be new, and gets this instance
};

struct Created {
  Agent agent;
  bool was_there = false;             // existed: repaired if needed, card replaced if one was given
  bool is_changed = false;            // its card was replaced or changed
  std::optional<UnixMicros> expires;  // of the card; nullopt: never
  std::vector<std::string> warnings;
};

[[nodiscard]] Result<Created> create(FenceHost& host, const CreateRequest& request,
                                     const BeforeStep& before = {});

}  // namespace stile::netns
