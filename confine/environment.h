// environment: the variables of a confined command. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stile::confine {

struct Variables {
  std::span<const std::string> given;     // the caller's
  std::string_view proxy;                 // "http://10.200.0.1:3128"
  std::string_view home;                  // replaces HOME; "": HOME is unchanged
  std::span<const std::string> exposed;   // keep a variable that names a socket below these
  std::span<const std::string> writable;  // keep a TMPDIR below these
  std::span<const std::string> more;      // additional variables
};

// The given variables, with the proxy's and our own replacing any of the same name. Variables that
// name sockets of the caller, or a temporary directory that does not exist inside, are removed.
[[nodiscard]] std::vector<std::string> agent_environment(const Variables& wanted);

}  // namespace stile::confine
