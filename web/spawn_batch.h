// SpawnBatch: what callers say of several workers at once, and the requests to the spawner. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::web {

inline constexpr std::size_t most_workers_at_once = 16;

struct SpawnBatch {
  std::string name;  // the tag of all its workers
  struct One {
    std::string id, line;
  };
  std::vector<One> workers;
};

// {"workspace":…,"template":…,"card":…,"tags":[…],"batch":…} for all, and either "count" or
// "agents": a list of objects with the same keys and "task_id" for one each. Without a name of its
// own, the batch gets `name`, and its workers NAME-1, NAME-2 …. The spawner checks the values.
[[nodiscard]] Result<SpawnBatch> parse_batch(std::string_view body, std::string name);

// What stop-all stops: {"tag":…} is workers with this tag, {} and "" are all of them (nullopt). An
// unknown key is an error: with `tags` instead of `tag`, all workers would be stopped.
[[nodiscard]] Result<std::optional<std::string>> parse_stop(std::string_view body);

}  // namespace stile::web
