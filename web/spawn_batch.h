// SpawnBatch: requests to the spawner for several workers at once. Pure.
#pragma once

#include <cstddef>
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

}  // namespace stile::web
