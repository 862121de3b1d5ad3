// StepChannel: synchronizes the process outside with the first process inside until the command
// starts.
#pragma once

#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::run {

// One end of a socket pair. Each message is one step. If the other end is closed, the next step
// fails, so neither side continues alone.
class StepChannel {
 public:
  static Result<std::pair<StepChannel, StepChannel>> make();

  void close() { fd_.reset(); }
  [[nodiscard]] Result<void> send_step() const { return send(-1); }
  [[nodiscard]] Result<void> send_descriptor(const UniqueFd& fd) const { return send(fd.get()); }
  [[nodiscard]] Result<void> await_step() const;
  [[nodiscard]] Result<UniqueFd> receive_descriptor() const;

 private:
  explicit StepChannel(UniqueFd fd) : fd_{std::move(fd)} {}
  [[nodiscard]] Result<void> send(int descriptor) const;
  [[nodiscard]] Result<UniqueFd> receive() const;
  UniqueFd fd_;
};

}  // namespace stile::run
