// compile: turns a squid.conf into what the daemon runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "config/load.h"
#include "squid/conf.h"

namespace stile::squid {

struct Compiled {
  config::Loaded loaded;                           // settings without agents
  std::shared_ptr<const acl::AgentPolicy> policy;  // for every source
};

// Fails only if the regexes together need too much memory.
[[nodiscard]] config::Checked<Compiled> compile(Conf conf, std::string digest);

// The checks that Stile adds to this squid.conf and how to turn each off, for the log at start.
[[nodiscard]] std::vector<std::string> additions(const Conf& conf);

// "Local_Net" is logged as "local-net".
[[nodiscard]] std::string agent_name(std::string_view acl);

}  // namespace stile::squid
