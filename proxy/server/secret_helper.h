// SecretHelper: a process that runs the commands of secrets for the daemon, whose sandbox allows no
// programs.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::server {

// It knows its commands from the start and gets only their numbers: a daemon that was taken over
// cannot make it run anything else, and no byte of an agent ever reaches it. It ends with the
// daemon.
class SecretHelper {
 public:
  using Command = std::vector<std::string>;
  // Forks. Call it after privileges were dropped, before the sandbox and before the first thread.
  static Result<std::unique_ptr<SecretHelper>> start(std::vector<Command> commands);
  ~SecretHelper();
  SecretHelper(const SecretHelper&) = delete;
  SecretHelper& operator=(const SecretHelper&) = delete;

  [[nodiscard]] bool knows(const Command& command) const;
  // Blocks for up to half a minute; one command at a time; from any thread. A command that it does
  // not know is an error.
  [[nodiscard]] Result<std::string> run(const Command& command);

 private:
  SecretHelper(std::vector<Command> commands, pid_t process, UniqueFd socket)
      : commands_{std::move(commands)}, process_{process}, socket_{std::move(socket)} {}
  std::vector<Command> commands_;
  pid_t process_;
  UniqueFd socket_;
  std::mutex one_at_a_time_;
};

}  // namespace stile::server
