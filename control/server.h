// ControlServer: the control sockets and their clients. Runs on one io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <set>

#include "base/unique_fd.h"
#include "control/connection.h"

namespace stile::control {

class ControlServer {
 public:
  static constexpr std::size_t max_clients = 1024;
  static constexpr std::size_t max_clients_per_user = 512;  // one user cannot lock out the others

  ControlServer(boost::asio::io_context& context, Service& service)
      : context_{context}, service_{service} {}

  // A bound and listening unix socket. Without `may_change`, its clients can only read.
  void listen(UniqueFd socket, bool may_change);
  // Accepts no further clients, and closes the existing ones.
  void stop();
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

 private:
  struct Door {
    Door(boost::asio::io_context& context, int fd, bool changes)
        : acceptor{context, boost::asio::local::stream_protocol{}, fd},
          pause{context},
          may_change{changes} {}
    boost::asio::local::stream_protocol::acceptor acceptor;
    boost::asio::steady_timer pause;
    bool may_change;
  };
  void accept(Door& door);
  void admit(Connection::Socket socket, bool may_change);

  boost::asio::io_context& context_;
  Service& service_;
  std::list<Door> doors_;
  std::set<ConnectionPtr> clients_;
  std::map<uid_t, std::size_t> per_user_;
};

}  // namespace stile::control
