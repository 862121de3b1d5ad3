// The end of a log: what a new process needs to continue it.
#pragma once

#include <string>

#include "audit/chain.h"
#include "audit/torn.h"
#include "base/result.h"

namespace stile::audit {

struct Tail {
  ChainHead head;  // of the last whole line
  Torn torn;       // the bytes after it
};

// Reads backwards from the end of the open file until it finds a line, at most 16 MiB. An empty
// file has an empty tail. A file without any audit line is an error: Stile does not append to it.
[[nodiscard]] Result<Tail> read_tail(int fd, const std::string& name);

}  // namespace stile::audit
