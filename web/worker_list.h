// worker_list: the spawner's workers, each with its tasks and what it uses, as one JSON object.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "web/control_link.h"

namespace stile::web {

// {"connected":true,"workers":[{…, "runs":[…]}]}; not connected: the spawner does not answer.
void list_workers(ControlLink& spawner, std::function<void(std::string text)> done);

// The ids in an answer to `list`, in its order; at most `most`.
[[nodiscard]] std::vector<std::string> worker_ids(std::string_view answer, std::size_t most);

}  // namespace stile::web
