// needed_requests: the capabilities and request entries that cover requests inside opened tunnels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/capability.h"

namespace stile::cli {

// One kind of request that was seen.
struct NeededRequest {
  std::string host;
  std::uint16_t port = 0;
  std::string method, path;  // without the query
  std::uint64_t let_through = 0, refused = 0;
};

struct SuggestedCapability {
  std::string text;  // as in `can`
  std::uint64_t let_through = 0, refused = 0;
};

struct SuggestedRequest {
  std::string host;
  std::vector<std::string> methods;
  std::vector<std::string> paths;  // empty: any
  std::uint64_t let_through = 0, refused = 0;
};

struct SuggestedRequests {
  std::vector<SuggestedCapability> can;
  std::vector<SuggestedRequest> requests;  // what no capability covers
  std::vector<std::string> remarks;
};

// Prefers capabilities, those that cover most first. A parameter is taken from the paths, never a
// `*`. `known` null: there are no capabilities.
[[nodiscard]] SuggestedRequests cover_requests(const std::vector<NeededRequest>& needed,
                                               const config::Capabilities* known);

}  // namespace stile::cli
