// Jail: the namespaces of a command, and its life in them.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"
#include "run/channel.h"
#include "run/files.h"
#include "run/identity.h"

namespace stile::run {

struct Plan {
  Identity identity;
  CommandFiles files;
  std::vector<std::string> command;
  bool was_found = false;  // the command exists outside
  sigset_t mask{};         // the command's signal mask
};

class Jail {
 public:
  // Makes the namespaces and everything in them, up to the listener at the proxy's address. The
  // command does not run yet. Before any thread is started: this forks. An error without words: the
  // process inside has said it.
  static Result<Jail> make(const Plan& plan);

  // The socket that the command's requests arrive at.
  [[nodiscard]] UniqueFd take_listener() noexcept { return std::move(listener_); }
  // The first process inside; ends with the command, and all that is left inside with it.
  [[nodiscard]] pid_t first_process() const noexcept { return pid_; }
  // Lets the command run.
  [[nodiscard]] Result<void> start() const { return channel_.send_step(); }
  // Ends what is there without having run the command.
  void abandon();

 private:
  Jail(pid_t pid, Channel channel) : pid_{pid}, channel_{std::move(channel)} {}
  [[nodiscard]] Result<void> prepare(const Identity& identity);
  pid_t pid_;
  Channel channel_;
  UniqueFd listener_;
};

}  // namespace stile::run
