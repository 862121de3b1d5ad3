// Descriptors and IPv4 sockets of the load side: owned and non-blocking.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stile::bench {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// Reads "127.0.0.1:3128"; ends the program on anything else, since only the runner writes these.
sockaddr_in endpoint(const std::string& text);

// The nth address from 127.0.1.1 on: one per agent.
sockaddr_in agent_source(unsigned n);

Fd listen_on(const sockaddr_in& at);

// Starts to connect; the socket is writable or in error when that is over. `source` may be null.
Fd dial(const sockaddr_in& to, const sockaddr_in* source);

Fd accept_from(int listener);

[[noreturn]] void die(std::string_view what);

// As many descriptors as the hard limit grants.
void raise_descriptor_limit();

}  // namespace stile::bench
