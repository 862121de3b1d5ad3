// Where a log ends: what a new process needs to go on with it.
#pragma once

#include <string>

#include "acl/result.h"
#include "audit/chain.h"
#include "audit/torn.h"

namespace stile::audit {

struct Tail {
  ChainHead head;  // of the last whole line
  Torn torn;       // what stands behind it
};

// Reads backwards from the end of the open file until it meets a line, at most 16 MiB. An empty
// file has an empty tail. A file in which no line is found is an error: it is not ours to append
// to.
[[nodiscard]] Result<Tail> read_tail(int fd, const std::string& name);

}  // namespace stile::audit
