// Files: what a squid.conf may read besides itself; tests and the fuzzer use their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/digest.h"

namespace stile::squid {

struct Files {
  std::function<Result<std::string>(const std::string& path)> read;
  // The names that match a pattern, sorted; empty: none.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
};

// The files of this host. Refuses a file that anyone but root and its owner can write. Adds what
// was read to the digest, which must outlive the result.
[[nodiscard]] Files disk_files(config::Digest& digest);

}  // namespace stile::squid
