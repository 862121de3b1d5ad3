// Rotation by size: the log becomes log.1, log.1 becomes log.2, and so on.
#pragma once

#include <cstdint>
#include <string>

#include "audit/file.h"

namespace stile::audit {

[[nodiscard]] std::string rotated_name(const std::string& path, std::uint32_t number);

// Moves the names on by one, at most to path.`keep` (the one before there is deleted), and returns
// the new, empty file that has the name `path`. Each step is one rename(2), so a crash at any point
// loses no line and leaves path.1 where the newest lines are if `path` is missing. On error the
// file named `path` has stayed.
[[nodiscard]] Result<File> rotate(const std::string& path, std::uint32_t keep);

}  // namespace stile::audit
