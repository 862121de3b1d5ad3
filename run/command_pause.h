// CommandPause: stops everything that runs inside while a person reads a question.
#pragma once

#include <sys/types.h>

namespace stile::run {

class CommandPause {
 public:
  // The first process inside. It goes on itself.
  explicit CommandPause(pid_t first_process) : first_{first_process} {}

  // False: not all processes stopped in time, and they run again.
  [[nodiscard]] bool stop() const;
  // Whether all of them are stopped. The job control of a shell outside can continue them.
  [[nodiscard]] bool holds() const;
  void resume() const;

 private:
  pid_t first_;
};

}  // namespace stile::run
