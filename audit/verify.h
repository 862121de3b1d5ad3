// verify: whether audit logs are whole, and what is missing from them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace stile::audit {

struct VerifyOptions {
  // A hash that the journal was told at a stop or rotation: a line of these files must have it.
  // Empty: not compared.
  std::string head;
};

// Reads the files as one log, oldest first, and stops at the first place that does not hold. Tells
// `out` of gaps, of open ends (`open` without `close`) and of the last line; tells `err` of what
// does not hold as "file:line: why". Returns an exit status: 0 if all holds, 1 if not or if a file
// cannot be read.
[[nodiscard]] int verify(const std::vector<std::string>& files, const VerifyOptions& options,
                         std::ostream& out, std::ostream& err);

}  // namespace stile::audit
