// Files: what a squid.conf may read beside itself; tests and the fuzzer bring their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "acl/result.h"
#include "config/digest.h"

namespace stile::squid {

struct Files {
  std::function<Result<std::string>(const std::string& path)> read;
  // The names that fit a pattern, sorted; empty: none does.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
};

// Those of the machine. A file that anyone but root and its owner can write is refused; what was
// read goes into the digest, which must outlive the result.
[[nodiscard]] Files disk_files(config::Digest& digest);

}  // namespace stile::squid
