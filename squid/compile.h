// compile: a squid.conf to what the daemon runs on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/load.h"
#include "squid/conf.h"

namespace stile::squid {

struct Compiled {
  config::Loaded loaded;                           // settings without agents of their own
  std::shared_ptr<const acl::AgentPolicy> policy;  // for every source
};

// Fails only for expressions that need too much memory together.
[[nodiscard]] config::Checked<Compiled> compile(Conf conf, std::string digest);

// What Stile adds to this squid.conf and how each is turned off, for the log at start.
[[nodiscard]] std::vector<std::string> additions(const Conf& conf);

// "Local_Net" is logged as "local-net".
[[nodiscard]] std::string agent_name(std::string_view acl);

}  // namespace stile::squid
