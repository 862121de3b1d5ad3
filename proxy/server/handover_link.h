// HandoverLink: messages with descriptors between two daemons, over a SOCK_SEQPACKET pair.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "proxy/server/handover_message.h"

namespace stile::server {

class HandoverLink {
 public:
  HandoverLink() = default;
  explicit HandoverLink(UniqueFd socket) noexcept;
  // Two ends that are connected.
  static Result<std::pair<HandoverLink, UniqueFd>> make();

  // From any thread; messages are sent whole. `descriptors` are the kernel's to copy, and stay the
  // caller's, as those of the message do. False: the other process is gone, or has not read for a
  // long time.
  [[nodiscard]] bool send(const Message& message, std::span<const int> descriptors = {}) const;
  // Whether send() would not have to wait now.
  [[nodiscard]] bool has_room() const noexcept;

  struct Received {
    std::optional<Message> message;  // nullopt: none within that time
    bool is_closed = false;          // the other process is gone
    std::string problem;             // what arrived is not a message
  };
  // By one thread.
  [[nodiscard]] Received receive(std::chrono::milliseconds patience);
  // A message that was sent already, if there is one. From here on send() of the other side fails,
  // so that both sides know the same.
  [[nodiscard]] Received receive_last();

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  void close() noexcept { socket_.reset(); }
  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

 private:
  UniqueFd socket_;
  std::vector<char> buffer_;
};

}  // namespace stile::server
