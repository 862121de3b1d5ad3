// The command line of squid, as far as an egress filter needs it.
#pragma once

#include <string>

#include "base/result.h"

namespace stile::squid {

struct CommandLine {
  enum class Action : std::uint8_t {
    serve,
    help,
    version,
    make_cache,  // -z: accepted, there is no cache
    parse,
    check,
    reconfigure,
    rotate,
    shutdown,
    interrupt,
    kill,
  };
  Action action = Action::serve;
  std::string file = "/etc/squid/squid.conf";
  bool is_foreground = false;
};

[[nodiscard]] Result<CommandLine> parse_command_line(int argc, char* const* argv);

extern const char* const usage;

}  // namespace stile::squid
