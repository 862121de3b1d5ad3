// run_sockets: where a `stile run` listens for its operator, and which of them are there.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace stile::control {

struct RunSocket {
  std::string name;  // what --run takes: the process id
  std::string path;
  std::string command;  // its command line, as far as it can be read; may hold any byte
};

// Beside the control socket of a daemon that this user would start: only that user gets there.
[[nodiscard]] std::string run_socket_folder();
[[nodiscard]] std::string run_socket_path(const std::string& folder, const std::string& name);

// Those that somebody serves, by name. One that nobody serves any more is removed.
[[nodiscard]] std::vector<RunSocket> live_runs(const std::string& folder);

}  // namespace stile::control
