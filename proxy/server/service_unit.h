// ServiceUnit: the unit of systemd that this process belongs to, seen from inside.
#pragma once

#include <chrono>

namespace stile::server {

struct ServiceUnit {
  // systemd stops it now and starts it again afterwards.
  bool is_being_restarted = false;
  // It starts it now, maybe as the second half of a restart.
  bool is_being_started = false;
  // When systemd would kill the process that it watches, and a bit less.
  std::chrono::milliseconds time_to_stop{std::chrono::seconds{44}};
};

// systemd has started this process as a command of a service, and hears what it reports.
[[nodiscard]] bool is_command_of_service();

// Over the system bus. Whatever it cannot find out is as above: then a stop is a stop.
[[nodiscard]] ServiceUnit ask_systemd() noexcept;

// Kills all other processes of this unit, and waits until they have ended. Does nothing if this
// process does not belong to a service.
void end_others() noexcept;

// For ExecStopPost=: the same, unless a new process will take over from them.
void end_left_over() noexcept;

}  // namespace stile::server
