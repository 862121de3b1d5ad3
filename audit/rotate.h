// Rotation by size: the log becomes log.1, log.1 becomes log.2, and so on.
#pragma once

#include <cstdint>
#include <string>

#include "audit/file.h"

namespace stile::audit {

[[nodiscard]] std::string rotated_name(const std::string& path, std::uint32_t number);

// Renames each file to the next number, at most to path.`keep` (the previous file of that name is
// deleted). Returns the new, empty file named `path`. Each step is one rename(2), so a crash at any
// point loses no line. If `path` is missing after a crash, the newest lines are in path.1. On error
// the file named `path` has not moved.
[[nodiscard]] Result<File> rotate(const std::string& path, std::uint32_t keep);

}  // namespace stile::audit
