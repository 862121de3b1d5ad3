// Server, taking over: sockets, state, log and tunnels come from the process before this one.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "audit/line_relay.h"
#include "base/local_socket.h"
#include "control/budget_share.h"
#include "proxy/base/log.h"
#include "proxy/server/inheritance.h"
#include "proxy/server/server.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using Kind = Message::Kind;

constexpr int messages_at_once = 256;
constexpr std::size_t counted_at_once = 8;   // tunnels for one `taken`
constexpr std::size_t named_at_once = 1000;  // agents in one message
constexpr std::uint64_t most_owed = std::uint64_t{1} << 60;

// A copy for an object of Asio, which owns its descriptor.
int copy_of(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }

}  // namespace

Inheritance::Inheritance(asio::io_context& context, HandoverLink from, UniqueFd lines,
                         audit::Log& log)
    : link{std::move(from)},
      events{context, copy_of(link.fd())},
      lines_{std::move(lines)},
      writer_{[this, &log] { audit::write_relayed(lines_, log); }} {}

Inheritance::~Inheritance() {
  ::shutdown(lines_.get(), SHUT_RDWR);
  writer_.join();
}

Server::~Server() = default;

control::BudgetKey Server::budget_of(const Message& message) {
  const std::uint64_t count = std::min(message.second, control::BudgetKey::last_count);
  return {message.agent, message.name, static_cast<control::BudgetKey::Count>(count)};
}

std::vector<UniqueFd> Server::inherited(SocketRole role, const std::string& name,
                                        const std::string& agent) {
  return predecessor_ ? predecessor_->take(role, name, agent) : std::vector<UniqueFd>{};
}

std::string Server::audit_text() const {
  const auto& audit = settings().audit;
  return audit.path + (audit.format == config::AuditFormat::json ? " json " : " squid ") +
         (audit.chain ? "chained " : "") + audit.lines;
}

// What systemd passes to this process comes first.
void Server::inherit_passed(ControlSockets& control, CaptureSockets& capture) {
  if (!predecessor_) return;
  if (listeners_.empty()) {
    for (auto& passed : predecessor_->take_passed()) {
      Listener listener{std::move(passed.sockets), passed.agent, {}, passed.name};
      net::SockAddr address;
      if (!passed.agent && !listener.sockets.empty() &&
          ::getsockname(listener.sockets[0].get(), address.get(), address.size_for_kernel()) == 0) {
        listener.address = address.address();
      }
      listeners_.push_back(std::move(listener));
    }
  }
  const auto take_one = [this](SocketRole role, UniqueFd& into) {
    auto sockets = inherited(role);
    if (!into && !sockets.empty()) into = std::move(sockets[0]);
  };
  take_one(SocketRole::control, control.control);
  if (!settings().server.read_only_group.empty()) {
    take_one(SocketRole::read_only_control, control.read_only);
  }
  if (capture.is_empty()) {
    capture = {inherited(SocketRole::captured_connections), inherited(SocketRole::questions)};
  }
}

// Every socket must be served: the kernel has spread the connections that wait over all of them.
bool Server::inherit_listener(const config::Endpoint& endpoint,
                              const std::optional<std::string>& agent) {
  const auto role = agent ? SocketRole::agent_listener : SocketRole::listener;
  auto sockets = inherited(role, endpoint.text(), agent.value_or(""));
  if (sockets.empty()) return false;
  Listener listener{std::move(sockets), agent, {}, endpoint.text()};
  if (endpoint.unix_path.empty()) listener.address = endpoint.address;
  listeners_.push_back(std::move(listener));
  return true;
}

Result<void> Server::take_over() {
  auto ends = socket_pair(SOCK_STREAM);
  if (!ends) return ends.error();
  auto [mine, its] = std::move(*ends);
  const auto commitment = predecessor_->commit(its);
  its.reset();
  if (!commitment) return commitment.error();
  if (auto begun = log_->begin(commitment->head); !begun) return begun;
  for (const auto& one : commitment->minutes) {
    auto* usage = control::find_host(editor_->policy(), one.agent, one.host);
    if (usage != nullptr) usage->minute.restore(one.count);
  }
  keep_names();
  // From here to open_doors() nothing may fail or take long.
  if (auto done = predecessor_->serve(editor_->policy().base().loaded.digest); !done) return done;
  if (predecessor_->is_dead()) {
    log::warning("the daemon (" + predecessor_->text() +
                 ") has ended before it was taken over; its connections are lost");
    return {};
  }
  log::info("taken over from " + predecessor_->text());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->post([first = commitment->next_conn + i](session::Context& context) {
      context.next_conn = first;
    });
  }
  inheritance_ =
      std::make_unique<Inheritance>(context_, predecessor_->take_link(), std::move(mine), *log_);
  inheritance_->told = editor_->policy().snapshot();
  return {};
}

// Tunnels come from here on, not before: they wait while they are on their way.
void Server::receive_tunnels() {
  if (!inheritance_) return;
  Message taken;
  taken.kind = Kind::taken;
  static_cast<void>(inheritance_->link.send(taken));
  watch_predecessor();
}

void Server::watch_predecessor() {
  inheritance_->events.async_wait(asio::posix::descriptor_base::wait_read,
                                  [this](const boost::system::error_code& ec) {
                                    if (ec) return;
                                    for (int i = 0; i < messages_at_once; ++i) {
                                      auto received = inheritance_->link.receive({});
                                      if (received.is_closed) {
                                        log::info("the daemon before this one has ended");
                                        inheritance_.reset();
                                        return;
                                      }
                                      if (!received.problem.empty()) log::error(received.problem);
                                      if (!received.message) break;
                                      on_predecessor(std::move(*received.message));
                                    }
                                    watch_predecessor();
                                  });
}

void Server::on_predecessor(Message message) {
  const control::BudgetKey key = budget_of(message);
  switch (message.kind) {
    case Kind::tunnel: {
      auto tunnel = session::unpack_tunnel(message.text, std::move(message.descriptors));
      // One that is refused frees its place, too.
      const std::size_t next = inheritance_->received++;
      if (tunnel) {
        workers_[next % workers_.size()]->adopt(std::move(*tunnel));
      } else {
        log::error(tunnel.error().message);
      }
      if (inheritance_->received % counted_at_once != 0) return;
      Message taken;
      taken.kind = Kind::taken;
      taken.first = inheritance_->received;
      static_cast<void>(inheritance_->link.send(taken));
      return;
    }
    case Kind::client:
      if (message.descriptors.size() != 1) return;
      return control_->adopt(
          {{std::move(message.descriptors[0]), std::move(message.text), message.other_flag},
           message.flag});
    case Kind::draw: {
      const auto drawn = control::draw(editor_->policy(), key, message.first);
      message.kind = Kind::drawn;
      message.first = drawn.amount;
      message.flag = drawn.is_spent;
      static_cast<void>(inheritance_->link.send(message));
      return;
    }
    case Kind::give_back: {
      auto* allowance = control::find_budget(editor_->policy(), key);
      if (allowance != nullptr) allowance->give_back(message.first);
      return wake_paused();
    }
    case Kind::owe: {
      auto* usage = control::find_host(editor_->policy(), message.agent, message.name);
      if (usage == nullptr) return;
      usage->owed_tokens += static_cast<std::int64_t>(std::min(message.first, most_owed));
      return usage->pay_debt();
    }
    default:
      return log::error("the daemon before this one said something unexpected");
  }
}

// What the other process still serves is cut if its agent's policy has changed: it cannot judge by
// this one.
void Server::tell_predecessor(const acl::Snapshot& snapshot) {
  if (!inheritance_) return;
  Message changed;
  changed.kind = Kind::changed;
  for (const auto& agent : inheritance_->told->agents()) {
    const auto* now = snapshot.by_id(agent->id);
    if (now != nullptr && now->get() == agent.get()) continue;
    if (changed.list.size() < named_at_once) {
      changed.list.push_back(agent->id);
    } else {
      changed.flag = true;
    }
  }
  if (!changed.list.empty()) static_cast<void>(inheritance_->link.send(changed));
}

}  // namespace stile::server
