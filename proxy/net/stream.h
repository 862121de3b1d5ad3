// Stream: a connection as a front uses it: a socket, and a layer over it if it is not plain.
//
// A plain stream costs what its socket costs. A layer (TLS) reads and writes through the socket, so
// readiness, interruption and the share of the agent are those of the socket for both.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "proxy/base/loop.h"

namespace stile::net {

class Stream {
 public:
  using IoResult = Socket::IoResult;

  class Layer {
   public:
    virtual ~Layer() = default;
    // As those of Socket. A read of 0 bytes is an end that the peer announced; a connection that
    // just ends is an error. After a read the socket is marked readable, at once or later, if the
    // layer holds input.
    [[nodiscard]] virtual IoResult read(char* buffer, std::size_t size) noexcept = 0;
    // Takes the bytes or blocks. The last of them may still have to be flushed.
    [[nodiscard]] virtual IoResult write(const char* data, std::size_t size) noexcept = 0;
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    [[nodiscard]] virtual IoResult flush() noexcept = 0;
    // A read would return something. Consumes what is no data, such as session tickets.
    [[nodiscard]] virtual bool has_input() noexcept = 0;
    // Announces the end of the output, as far as the socket takes it.
    virtual void end_output() noexcept = 0;
  };

  Stream() = default;
  explicit Stream(SocketPtr socket) noexcept : socket_{std::move(socket)} {}
  [[nodiscard]] explicit operator bool() const noexcept { return socket_ != nullptr; }
  void reset() noexcept {
    layer_.reset();
    socket_.reset();
  }
  // The layer uses socket().
  void put(std::unique_ptr<Layer> layer) noexcept { layer_ = std::move(layer); }
  [[nodiscard]] bool is_plain() const noexcept { return layer_ == nullptr; }
  // Only of a plain stream.
  [[nodiscard]] SocketPtr take_socket() noexcept { return std::move(socket_); }

  [[nodiscard]] IoResult read(char* buffer, std::size_t size) noexcept {
    return layer_ ? layer_->read(buffer, size) : socket_->read(buffer, size);
  }
  [[nodiscard]] IoResult write(const char* data, std::size_t size) noexcept {
    return layer_ ? layer_->write(data, size) : socket_->write(data, size);
  }
  [[nodiscard]] bool has_unsent() const noexcept { return layer_ && layer_->has_unsent(); }
  [[nodiscard]] IoResult flush() noexcept { return layer_ ? layer_->flush() : IoResult{0}; }
  [[nodiscard]] bool has_input() noexcept {
    return layer_ ? layer_->has_input() : socket_->is_readable();
  }
  // The peer sees an orderly end, and can still send. Nothing after reset_when_closed().
  void end_output() noexcept;
  // Close with a reset: what was cut must not look finished.
  void reset_when_closed() noexcept {
    is_cut_ = true;
    socket_->reset_when_closed();
  }

  // For what a layer does not change: readiness, waiting, watching, resetting.
  [[nodiscard]] Socket& socket() const noexcept { return *socket_; }

 private:
  SocketPtr socket_;
  std::unique_ptr<Layer> layer_;  // goes first: it uses the socket
  bool is_cut_ = false;
};

}  // namespace stile::net
