// Upgrade: what `stiled --reload` does: the running daemon gets the program and the config that are
// on disk.
#pragma once

#include <functional>
#include <string>

namespace stile::server {

// What distinguishes the file that this process runs from another one of the same name.
[[nodiscard]] std::string program_identity();

// What systemd calls the run of the service that this process belongs to; "": systemd does not wait
// for what this process says.
[[nodiscard]] std::string service_run();

// Runs a daemon that takes over; calls `is_serving` when it has. Returns its exit status.
using RunDaemon = std::function<int(const std::function<void()>& is_serving)>;

// Has the daemon at that control socket read its config again, and returns the exit status. If that
// daemon runs another program file, a process in the background takes over from it instead. In that
// process this function returns when the process ends.
[[nodiscard]] int reload(const std::string& control_path, const RunDaemon& take_over);

}  // namespace stile::server
