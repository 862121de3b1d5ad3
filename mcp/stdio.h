// serve_stdio: MCP over two descriptors, one message a line.
#pragma once

#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace stile::mcp {

// Returns when the client closes its end. Tasks that run then go on in their workers.
void serve_stdio(const Protocol& protocol, ToolBox& tools, int in, int out);

}  // namespace stile::mcp
