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
  std::string_view home;                  // replaces HOME; "": HOME stays
  std::span<const std::string> exposed;   // a variable that leads to a socket in these stays
  std::span<const std::string> writable;  // a TMPDIR in these stays
  std::span<const std::string> more;      // set as well
};

// Those given, with the proxy's and our own in place of any of that name, and without the ones that
// lead to sockets of the caller or to a directory for temporary files that does not exist inside.
[[nodiscard]] std::vector<std::string> agent_environment(const Variables& wanted);

}  // namespace stile::confine
