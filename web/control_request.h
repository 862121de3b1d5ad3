// ControlRequest: the line for the daemon's control socket that a request of a page becomes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/node.h"
#include "web/route.h"

namespace stile::web {

// `body` is "" or one JSON object with further fields of the action. It is parsed and written
// again: a newline in it cannot start a second request, and it cannot name another action or agent.
// The daemon checks the fields.
[[nodiscard]] Result<std::string> control_line(const Route& route, std::string_view body);

// The line for the spawner's socket that has nothing but an action and a worker.
[[nodiscard]] std::string worker_line(std::string_view action, std::string_view worker);

// An error, unless the body is one JSON object.
[[nodiscard]] Result<config::Node> object_in(std::string_view body);

// The text member of that name in a JSON object; an error names what is wrong.
[[nodiscard]] Result<std::string> text_member(std::string_view body, std::string_view name);

}  // namespace stile::web
