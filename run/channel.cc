// StepChannel: synchronizes the process outside with the first process inside until the command
// starts.
#include "run/channel.h"

#include <span>

#include "base/local_socket.h"
#include "base/system_error.h"

namespace stile::run {

Result<std::pair<StepChannel, StepChannel>> StepChannel::make() {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  return std::pair{StepChannel{std::move(ends->first)}, StepChannel{std::move(ends->second)}};
}

Result<void> StepChannel::send(int descriptor) const {
  const std::span<const int> descriptors{&descriptor, descriptor >= 0 ? 1U : 0U};
  if (send_message(fd_.get(), ".", descriptors) != 1) {
    return system_error("cannot reach the other process");
  }
  return {};
}

Result<UniqueFd> StepChannel::receive() const {
  char step = 0;
  auto received = receive_message(fd_.get(), {&step, 1}, 1);
  if (received.size != 1) return Error{"the other process has ended"};
  if (received.descriptors.empty()) return UniqueFd{};
  return std::move(received.descriptors.front());
}

Result<void> StepChannel::await_step() const {
  const auto received = receive();
  if (!received) return received.error();
  return {};
}

Result<UniqueFd> StepChannel::receive_descriptor() const {
  auto received = receive();
  if (received && !*received) return Error{"the other process sent no socket"};
  return received;
}

}  // namespace stile::run
