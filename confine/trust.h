// trust: makes a confined command trust the CA of Stile, as well as what the host trusts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "confine/view.h"

namespace stile::confine {

struct TrustSources {
  std::string ca;           // of Stile, PEM; "": nothing is opened for this agent
  std::string bundle;       // all roots that the host and the caller's variables name, PEM
  std::string bundle_path;  // of the host's own, without links; "": it has none
  std::string node_extra;   // that the caller has added for Node, PEM
};

// Reads the host's bundle, and the files that variables of the caller name: a company's CA stays
// trusted inside.
[[nodiscard]] TrustSources read_trust(std::string ca, std::span<const std::string> given);

struct TrustPlan {
  OwnFiles files;
  std::vector<std::string> variables;
};

// Pure. `proxy`: "http://10.200.0.1:3128", for Java, which does not read the variables of others.
[[nodiscard]] TrustPlan plan_trust(const TrustSources& sources, std::span<const std::string> given,
                                   std::string_view proxy);

}  // namespace stile::confine
