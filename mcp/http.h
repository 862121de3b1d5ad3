// serve_http: MCP over HTTP on loopback, with a bearer token.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace stile::mcp {

inline constexpr const char* http_path = "/mcp";

struct HttpOptions {
  std::string listen;  // "127.0.0.1:8129"; loopback only; port 0: any
  std::string token;
};

// Serves until SIGINT or SIGTERM. `on_ready` gets the URL as soon as clients can connect. Tasks
// that run at the end go on in their workers.
[[nodiscard]] Result<void> serve_http(const Protocol& protocol, ToolBox& tools,
                                      const HttpOptions& options,
                                      const std::function<void(const std::string& url)>& on_ready);

}  // namespace stile::mcp
