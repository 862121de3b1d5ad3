// ChangedFiles: what a task left in its worker's workspace. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace stile::worker {

struct ChangedFile {
  std::string name;  // relative to the workspace
  std::uint64_t size = 0;
  std::int64_t modified_at = 0;  // Unix seconds
};

struct ChangedFiles {
  // An answer with all of them fits into what clients of the spawner read at once.
  static constexpr std::size_t most_files = 500;
  static constexpr std::size_t most_name_bytes = 48U << 10U;

  std::vector<ChangedFile> files;  // sorted by name
  bool is_cut = false;             // there may be more
};

// `files` and `truncated`, as the spawner's `files` has them.
void add_files(JsonObject& object, const ChangedFiles& changed);

}  // namespace stile::worker
