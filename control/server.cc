// ControlServer: the control sockets and their clients.
#include "control/server.h"

#include <pwd.h>

#include <array>
#include <string>
#include <utility>

#include "base/local_socket.h"

namespace stile::control {
namespace {

namespace asio = boost::asio;

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return "user";
  }
  return found->pw_name;
}

ControlPeer peer_of(int fd, bool may_change) {
  // An unknown peer is treated as the kernel's overflow user.
  const auto credentials = peer_credentials(fd).value_or(ucred{0, 65534, 65534});
  return {credentials.uid,
          user_name(credentials.uid) + "(uid " + std::to_string(credentials.uid) + ", pid " +
              std::to_string(credentials.pid) + ")",
          may_change, credentials.pid};
}

void forget(std::map<uid_t, std::size_t>& counts, uid_t uid) {
  const auto found = counts.find(uid);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

}  // namespace

void ControlServer::listen(UniqueFd socket, bool may_change) {
  doors_.emplace_back(
      asio::local::stream_protocol::acceptor{context_, asio::local::stream_protocol{},
                                             socket.release()},
      [this, may_change](Connection::Socket client) {
        if (const auto admitted = admit(std::move(client), may_change)) admitted->start();
      },
      may_change);
}

bool ControlServer::has_room(uid_t uid, bool may_change) const {
  const auto of_user = [uid](const auto& counts) {
    const auto found = counts.find(uid);
    return found == counts.end() ? 0 : found->second;
  };
  if (clients_.size() >= max_clients || of_user(per_user_) >= max_clients_per_user) return false;
  if (may_change) return true;
  std::size_t lookers = 0;
  for (const auto& [user, count] : lookers_) lookers += count;
  return lookers < max_lookers && of_user(lookers_) < max_lookers_per_user;
}

ConnectionPtr ControlServer::admit(Connection::Socket socket, bool may_change) {
  auto peer = peer_of(socket.native_handle(), may_change);
  const uid_t uid = peer.uid;
  if (!has_room(uid, may_change)) return nullptr;
  ++per_user_[uid];
  if (!may_change) ++lookers_[uid];
  auto client = std::make_shared<Connection>(std::move(socket), std::move(peer), service_,
                                             [this](Connection& ended) {
                                               const auto& left = ended.peer();
                                               forget(per_user_, left.uid);
                                               if (!left.may_change) forget(lookers_, left.uid);
                                               clients_.erase(ended.shared_from_this());
                                             });
  clients_.insert(client);
  client->pause(is_paused_);
  return client;
}

void ControlServer::pause(bool on) {
  is_paused_ = on;
  const auto clients = clients_;  // one may end
  for (const auto& client : clients) client->pause(on);
}

std::vector<ControlServer::DoorFd> ControlServer::doors() {
  std::vector<DoorFd> all;
  for (auto& door : doors_) all.push_back({door.clients.fd(), door.may_change});
  return all;
}

std::vector<ControlServer::Leaver> ControlServer::take_idle() {
  std::vector<Leaver> leavers;
  const auto clients = clients_;
  for (const auto& client : clients) {
    const bool may_change = client->peer().may_change;
    if (auto idle = client->leave()) leavers.push_back({std::move(*idle), may_change});
  }
  return leavers;
}

void ControlServer::adopt(Leaver leaver) {
  boost::system::error_code failed;
  Connection::Socket socket{context_};
  socket.assign(asio::local::stream_protocol{}, leaver.idle.socket.get(), failed);
  if (failed) return;
  static_cast<void>(leaver.idle.socket.release());
  if (const auto client = admit(std::move(socket), leaver.may_change)) {
    client->start_with(std::move(leaver.idle.unread), leaver.idle.is_at_end);
  }
}

void ControlServer::close_doors() {
  for (auto& door : doors_) door.clients.close();
}

void ControlServer::leave(const std::function<bool(Connection&)>& is_kept) {
  close_doors();
  const auto clients = clients_;
  for (const auto& client : clients) {
    if (!is_kept(*client)) client->close();
  }
}

void ControlServer::stop() {
  close_doors();
  while (!clients_.empty()) (*clients_.begin())->close();
}

}  // namespace stile::control
