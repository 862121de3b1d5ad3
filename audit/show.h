// show: prints audit lines for people.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "audit/line.h"

namespace stile::audit {

struct ShowOptions {
  std::string agent{};       // only this agent; empty: all
  bool denied_only = false;  // only what was, or would have been, refused or cut
  std::string since{};       // only from this time stamp on; empty: all
};

[[nodiscard]] bool matches(const Line& line, const ShowOptions& options) noexcept;

// One line without a newline. Text stays escaped, so that it cannot control a terminal.
[[nodiscard]] std::string describe(const Line& line);

// Calls `each` with every whole line of the files, parsed and as text. Reports torn and foreign
// lines on `err`. Returns exit status 1 if there is a foreign line or a file cannot be read.
using EachLine = std::function<void(const Line& line, std::string_view text)>;
[[nodiscard]] int read_lines(const std::vector<std::string>& files, const EachLine& each,
                             std::ostream& err);

}  // namespace stile::audit
