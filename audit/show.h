// show: audit lines as people read them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "audit/line.h"

namespace stile::audit {

struct ShowOptions {
  std::string agent{};       // only this one; empty: all
  bool denied_only = false;  // only verdict deny or would-deny
};

[[nodiscard]] bool matches(const Line& line, const ShowOptions& options) noexcept;

// One line without a newline. Text stays escaped, so that it cannot steer a terminal.
[[nodiscard]] std::string describe(const Line& line);

// Prints the lines of the files to `out`. Torn lines and what is no audit line are named on `err`;
// for the latter, or if a file cannot be read, the exit status is 1.
[[nodiscard]] int show(const std::vector<std::string>& files, const ShowOptions& options,
                       std::ostream& out, std::ostream& err);

}  // namespace stile::audit
