// verify: checks whether audit logs are intact, and reports what is missing.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace stile::audit {

struct VerifyOptions {
  // A hash that the journal recorded at a stop or rotation: one line of these files must have it.
  // Empty: not checked.
  std::string head;
};

// Reads the files as one log, oldest first, and stops at the first damaged line. Reports gaps,
// unclosed connections (`open` without `close`) and the last line on `out`, and the damage on `err`
// as "file:line: why". Returns exit status 0 if the log is intact, 1 if not or if a file cannot be
// read.
[[nodiscard]] int verify(const std::vector<std::string>& files, const VerifyOptions& options,
                         std::ostream& out, std::ostream& err);

}  // namespace stile::audit
