// show: audit lines as people read them.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "audit/line.h"

namespace stile::audit {

struct ShowOptions {
  std::string agent{};       // only this one; empty: all
  bool denied_only = false;  // only what was, or would have been, refused or cut
  std::string since{};       // only from this time stamp on; empty: all
};

[[nodiscard]] bool matches(const Line& line, const ShowOptions& options) noexcept;

// One line without a newline. Text stays escaped, so that it cannot steer a terminal.
[[nodiscard]] std::string describe(const Line& line);

// Calls `each` with every whole line of the files, read and as it stands there. Torn lines and what
// is no audit line are named on `err`; for the latter, or if a file cannot be read, the exit status
// is 1.
using EachLine = std::function<void(const Line& line, std::string_view text)>;
[[nodiscard]] int read_lines(const std::vector<std::string>& files, const EachLine& each,
                             std::ostream& err);

}  // namespace stile::audit
