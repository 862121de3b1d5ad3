// Parses an Endpoint: "127.0.0.1:3128", "[::1]:3128", "unix:/run/x.sock".
#pragma once

#include <string_view>

#include "base/result.h"
#include "config/settings.h"

namespace stile::config {

[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

// A DNS server: an address alone (port 53) or with a port; never a unix socket.
[[nodiscard]] Result<Endpoint> parse_dns_server(std::string_view text);

[[nodiscard]] bool is_loopback(const acl::Address& address) noexcept;

}  // namespace stile::config
