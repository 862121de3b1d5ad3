// run_sockets: the sockets where each `stile run` listens for its operator.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace stile::control {

struct RunSocket {
  std::string name;  // what --run takes: the process id
  std::string path;
  std::string command;  // its command line, as far as it can be read; can contain any byte
};

// Next to the control socket of a daemon that this user would start: only this user has access.
[[nodiscard]] std::string run_socket_folder();
[[nodiscard]] std::string run_socket_path(const std::string& folder, const std::string& name);

// The sockets in use, by name. Removes stale ones.
[[nodiscard]] std::vector<RunSocket> live_runs(const std::string& folder);

}  // namespace stile::control
