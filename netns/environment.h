// environment: the variables of a command that runs as an agent. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stile::netns {

// Those given, with the proxy's in place of any of that name, and without the ones that lead to
// sockets of whoever calls, except where the socket is exposed. `proxy`: "http://10.200.0.1:3128".
// `home`: replaces HOME, for a root inside that is not root of the host and has a home of its own;
// empty: HOME stays.
[[nodiscard]] std::vector<std::string> agent_environment(std::span<const std::string> given,
                                                         std::string_view proxy,
                                                         std::string_view home,
                                                         std::span<const std::string> exposed = {});

}  // namespace stile::netns
