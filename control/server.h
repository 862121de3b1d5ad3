// ControlServer: the control sockets and their clients. Runs on one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "base/accept_loop.h"
#include "base/unique_fd.h"
#include "control/connection.h"

namespace stile::control {

class ControlServer {
 public:
  static constexpr std::size_t max_clients = 1024;
  static constexpr std::size_t max_clients_per_user = 512;  // one user cannot lock out the others
  // Those that may only look, all together: they cannot lock out those that may change something.
  static constexpr std::size_t max_lookers = 512, max_lookers_per_user = 256;

  ControlServer(boost::asio::io_context& context, Service& service)
      : context_{context}, service_{service} {}

  // A bound and listening unix socket. Without `may_change`, its clients can only read.
  void listen(UniqueFd socket, bool may_change);
  // While it is paused, no request is read; those that are being served are answered.
  void pause(bool on);
  // The sockets that it listens on.
  struct DoorFd {
    int fd;
    bool may_change;
  };
  [[nodiscard]] std::vector<DoorFd> doors();
  // Takes the idle clients away, for another process to serve.
  struct Leaver {
    Connection::Idle idle;
    bool may_change;
  };
  [[nodiscard]] std::vector<Leaver> take_idle();
  // Accepts no further clients, and closes those that are not kept.
  void leave(const std::function<bool(Connection&)>& is_kept);
  // A client of another process.
  void adopt(Leaver client);
  // Accepts no further clients, and closes the existing ones.
  void stop();
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

 private:
  struct Door {
    using Clients = AcceptLoop<Connection::Socket::protocol_type>;
    Door(Clients::Acceptor acceptor, std::function<void(Connection::Socket)> take, bool changes)
        : clients{std::move(acceptor), std::move(take)}, may_change{changes} {}
    Clients clients;
    bool may_change;
  };
  void close_doors();
  [[nodiscard]] bool has_room(uid_t uid, bool may_change) const;
  // Null: there are too many.
  ConnectionPtr admit(Connection::Socket socket, bool may_change);

  boost::asio::io_context& context_;
  Service& service_;
  bool is_paused_ = false;
  std::list<Door> doors_;
  std::set<ConnectionPtr> clients_;
  std::map<uid_t, std::size_t> per_user_, lookers_;  // all, and those that may only look
};

}  // namespace stile::control
