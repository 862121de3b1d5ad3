// Connection: one connection to the control socket: lines in, lines out, both bounded.
#pragma once

#include <sys/types.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "control/protocol.h"
#include "control/request.h"

namespace stile::control {

class Connection;
using ConnectionPtr = std::shared_ptr<Connection>;

// Executes the requests.
class Service {
 public:
  // Answers through client->answer() or ->fail() exactly once, now or later. The next request of
  // this client is read after that.
  virtual void serve(const ControlRequest& request, const ConnectionPtr& client) = 0;
  // They outlive every request.
  [[nodiscard]] virtual const Actions& actions() const = 0;
  virtual void on_closed(Connection& client) = 0;

 protected:
  ~Service() = default;
};

// The credentials of the peer, as the kernel reports them.
struct ControlPeer {
  uid_t uid = 0;
  std::string name;  // "alice(uid 1000, pid 4242)", for the audit log
  bool may_change = false;
  pid_t pid = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;

  Connection(Socket socket, ControlPeer peer, Service& service,
             std::function<void(Connection&)> on_end);

  void start();
  void close();
  // While it is paused, no request is read; one that is being served is answered.
  void pause(bool on);
  // An idle client, for another process to serve; nullopt: it is being served, or it is held.
  struct Idle {
    UniqueFd socket;
    std::string unread;
    bool is_at_end = false;
  };
  [[nodiscard]] std::optional<Idle> leave();
  // What another process had read from the client.
  void start_with(std::string unread, bool is_at_end);

  // One line, without its newline.
  void answer(std::string_view line);
  void fail(const Failure& failure);
  // An answer in pieces: `next` appends whole lines and returns whether there are more. It is
  // called when the client has read the previous piece.
  using NextPiece = std::function<bool(std::string& out)>;
  void answer_in_pieces(NextPiece next);
  // Adds a line without a request, for `tail`; send_pushed() sends it at the latest. False: the
  // client reads too slowly, and it was dropped.
  [[nodiscard]] bool push(std::string_view line);
  void send_pushed();
  // From now on the connection stays open after the client has shut down its sending side.
  void hold() noexcept { is_held_ = true; }

  [[nodiscard]] const ControlPeer& peer() const noexcept { return peer_; }
  [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
  // At most half of the output buffer is unread.
  [[nodiscard]] bool has_caught_up() const noexcept;
  // The socket sent with the request; none unless there was exactly one.
  [[nodiscard]] UniqueFd take_descriptor() noexcept { return std::move(descriptor_); }

 private:
  void wait_readable();
  void wait_hang_up();
  void wait_writable();
  void go_on();
  [[nodiscard]] bool receive();  // false: closed
  [[nodiscard]] bool next_line(std::string& line);
  void serve_line(const std::string& line);
  void send_piece();
  void flush();

  Socket socket_;
  boost::asio::steady_timer stall_;
  ControlPeer peer_;
  Service& service_;
  std::function<void(Connection&)> on_end_;
  std::string in_, out_;
  UniqueFd descriptor_;
  NextPiece next_piece_;
  bool is_busy_ = false;  // a request is being served
  bool is_paused_ = false;
  bool is_skipping_ = false;  // the rest of an oversized line
  bool is_at_end_ = false;    // the client has shut down its sending side
  bool is_held_ = false;
  bool is_reading_ = false, is_writing_ = false;  // a wait is pending
};

}  // namespace stile::control
