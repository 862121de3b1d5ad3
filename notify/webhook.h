// Webhook: posts one message over HTTPS, with the certificate verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stile::notify {

struct Url {
  bool is_tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string path = "/";  // with the query
};
// https://, or http:// to this host itself: elsewhere anyone on the way could read and change it.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

// Of HTTPS_PROXY: http://host:port, wherever it is: what goes through it is TLS.
[[nodiscard]] Result<Url> parse_proxy(std::string_view text);

struct WebhookOptions {
  Url url;
  std::optional<Url> proxy;  // http://host:port: the way out, if this program has its own allowlist
  std::string ca_file;       // more roots; may be empty
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// The status of the answer. An error: no answer came. Blocks for at most half a minute.
[[nodiscard]] Result<int> post(const WebhookOptions& options, const Headers& headers,
                               std::string_view body);

}  // namespace stile::notify
