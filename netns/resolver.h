// resolver: the resolv.conf and hosts of an agent that has a name server. ip(8) shows the files of
// /etc/netns/NAMESPACE in /etc, and `exec` does the same with these.
#pragma once

#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "netns/agent.h"

namespace stile::netns {

inline constexpr const char* resolver_directory = "/etc/netns";
[[nodiscard]] std::string resolver_path(std::string_view id);
[[nodiscard]] std::string resolver_text(const config::NetnsSettings& settings);

// As it should be: there for an agent that is captured, and for no other.
[[nodiscard]] Result<bool> has_resolver(const config::NetnsSettings& settings, const Agent& agent);
[[nodiscard]] Result<void> write_resolver(const config::NetnsSettings& settings,
                                          const Agent& agent);
[[nodiscard]] Result<void> remove_resolver(const Agent& agent);

}  // namespace stile::netns
