// What `stile fleet status` shows: the objects in the store, the hosts, and who is behind.
#pragma once

#include <string>

#include "base/json_value.h"
#include "base/terminal.h"
#include "fleet/publish.h"

namespace stile::cli {

// "every host", or "hosts a, b".
[[nodiscard]] std::string targets_text(const fleet::Envelope& envelope);

void print_overview(const fleet::Overview& overview, const Terminal& terminal);
[[nodiscard]] Json as_json(const fleet::Overview& overview);

}  // namespace stile::cli
