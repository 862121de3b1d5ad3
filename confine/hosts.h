// hosts: the names of /etc/hosts that hold inside, too. Pure.
#pragma once

#include <string>
#include <string_view>

namespace stile::confine {

inline constexpr const char* hosts_file = "/etc/hosts";
// The first line of what hosts_inside() returns.
inline constexpr std::string_view hosts_mark = "# Made by Stile: all other names are asked for.\n";

// For a command whose names come from Stile: the lines of a hosts file with loopback addresses,
// which mean the command itself. An address of any other line leads nowhere inside, and would keep
// the name from being asked for.
[[nodiscard]] std::string hosts_inside(std::string_view hosts);

}  // namespace stile::confine
