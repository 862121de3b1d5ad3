// Jail: the namespaces of a command, from their creation to its end.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "run/capture.h"
#include "run/channel.h"
#include "run/files.h"
#include "run/identity.h"
#include "run/limits.h"

namespace stile::run {

struct Plan {
  Identity identity;
  CommandFiles files;
  std::vector<std::string> command;
  std::vector<ProcessLimit> limits;
  std::optional<CapturePlan> capture;
  std::vector<std::uint16_t> host_ports;  // that lead to the host
  bool was_found = false;                 // the command exists outside
  bool has_own_group = false;             // of processes
  sigset_t mask{};                        // the command's signal mask
};

class Jail {
 public:
  // Creates the namespaces and everything in them, up to the listener at the proxy's address. The
  // command does not run yet. Must be called before any thread starts, because it forks. An error
  // without a message: the process inside has already reported it.
  static Result<Jail> make(const Plan& plan);

  // The socket that receives the command's requests.
  [[nodiscard]] UniqueFd take_listener() noexcept { return std::move(listener_); }
  // Those of captured connections, as open_capture returned them; empty: nothing is captured.
  [[nodiscard]] std::vector<UniqueFd> take_captured() noexcept { return std::move(captured_); }
  // One for each of host_ports, inside.
  [[nodiscard]] std::vector<UniqueFd> take_host_ports() noexcept { return std::move(host_ports_); }
  // The first process inside. It ends with the command, and all other processes inside end with it.
  [[nodiscard]] pid_t first_process() const noexcept { return pid_; }
  // Starts the command.
  [[nodiscard]] Result<void> start() const { return channel_.send_step(); }
  // Ends the processes inside without running the command.
  void abandon();

 private:
  Jail(pid_t pid, StepChannel channel) : pid_{pid}, channel_{std::move(channel)} {}
  [[nodiscard]] Result<void> prepare(const Plan& plan);
  [[nodiscard]] Result<void> receive(std::size_t count, std::vector<UniqueFd>& to) const;
  pid_t pid_;
  StepChannel channel_;
  UniqueFd listener_;
  std::vector<UniqueFd> captured_, host_ports_;
};

}  // namespace stile::run
