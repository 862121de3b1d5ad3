// Server: the sockets on which it listens, and which worker gets them.
#include <utility>

#include "base/contains.h"
#include "proxy/base/log.h"
#include "proxy/server/server.h"
#include "proxy/server/worker_options.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;

std::vector<int> raw(const std::vector<UniqueFd>& descriptors) {
  std::vector<int> all;
  for (const auto& fd : descriptors) all.push_back(fd.get());
  return all;
}

}  // namespace

Result<void> Server::bind() {
  auto passed = passed_sockets(settings().server);
  if (!passed) return passed.error();
  listeners_ = std::move(passed->listeners);
  sockets_may_block_ = passed->may_block;
  inherit_passed(passed->control, passed->capture);
  // Those of agents are in addition to `listen`, all others in its place.
  const bool have_passed = std::any_of(listeners_.begin(), listeners_.end(),
                                       [](const Listener& one) { return !one.agent; });
  auto control = bind_control(settings().server, std::move(passed->control));
  if (!control) return control.error();
  control_sockets_ = std::move(*control);
  const std::size_t workers = worker_count(settings().server);
  const auto open = [&](const config::Endpoint& endpoint, std::optional<std::string> agent,
                        const UnixAccess& access = {}) -> Result<void> {
    if (inherit_listener(endpoint, agent)) return {};
    auto listener = open_listener(endpoint, std::move(agent), workers, access);
    if (!listener) return listener.error();
    listeners_.push_back(std::move(*listener));
    return {};
  };
  if (!have_passed) {
    for (const auto& endpoint : settings().server.listen) {
      if (auto done = open(endpoint, {}); !done) return done;
    }
  }
  for (const auto& [id, entry] : store_.base->entries) {
    for (const auto& endpoint : entry->settings.listen) {
      const UnixAccess access{entry->settings.listen_mode, entry->settings.listen_group};
      if (auto done = open(endpoint, id, access); !done) return done;
    }
  }
  for (const Listener& listener : listeners_) {
    if (listener.address) listener_addresses_.push_back(*listener.address);
  }
  if (auto done = bind_capture(std::move(passed->capture), workers); !done) return done;
  if (const auto& metrics = settings().server.metrics) {
    auto sockets = inherited(SocketRole::metrics, metrics->text());
    if (sockets.empty()) {
      auto listener = open_listener(*metrics, {}, 1);
      if (!listener) return listener.error();
      sockets = std::move(listener->sockets);
    }
    const auto protocol = metrics->address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6();
    metrics_acceptor_.emplace(context_, protocol, sockets[0].release());
    listener_addresses_.push_back(metrics->address);
  }
  return {};
}

// Only a daemon that serves the fence has agents whose traffic is captured. Without the sockets
// these agents still have the proxy, so it is served all the same.
Result<void> Server::bind_capture(CaptureSockets passed, std::size_t workers) {
  const auto& netns = settings().netns;
  if (!netns.capture) return {};
  const auto& known = listener_addresses_;
  is_of_fence_ = !passed.is_empty() || contains(known, netns.gateway);
  if (!passed.is_empty()) {
    capture_ = std::move(passed);
    return share_listener(capture_, workers);
  }
  if (!is_of_fence_) return {};
  auto opened = open_capture(netns, workers);
  if (opened) {
    capture_ = std::move(*opened);
  } else {
    log::error(
        "programs that know no proxy are not served: " + opened.error().message +
        "; stile-netns create and stile-netns repair hand the sockets over; or start stiled with "
        "stiled-capture.socket or as root, or set netns.capture = false");
  }
  return {};
}

// Each worker gets its own socket; a single one (unix, systemd) belongs to one worker. A process
// before this one may have had more workers, or fewer.
void Server::open_doors() {
  for (Listener& listener : listeners_) {
    const bool is_passed = listener.name.starts_with(from_systemd);
    const auto role =
        is_passed ? listener.agent ? SocketRole::passed_agent_listener : SocketRole::passed_listener
        : listener.agent ? SocketRole::agent_listener
                         : SocketRole::listener;
    offer(role, listener.name, listener.agent.value_or(""), raw(listener.sockets));
    for (std::size_t i = 0; i < listener.sockets.size(); ++i) {
      workers_[i % workers_.size()]->listen(std::move(listener.sockets[i]), listener.agent);
    }
  }
  give_capture(std::move(capture_));
}

void Server::give_capture(CaptureSockets sockets) {
  has_captured_connections_ |= !sockets.connections.empty();
  has_questions_ |= !sockets.questions.empty();
  offer(SocketRole::captured_connections, "", "", raw(sockets.connections));
  offer(SocketRole::questions, "", "", raw(sockets.questions));
  for (std::size_t i = 0; i < sockets.connections.size(); ++i) {
    workers_[i % workers_.size()]->capture(std::move(sockets.connections[i]), {},
                                           settings().netns.gateway);
  }
  for (std::size_t i = 0; i < sockets.questions.size(); ++i) {
    workers_[i % workers_.size()]->answer_questions(std::move(sockets.questions[i]), {});
  }
}

// For a daemon that was started without the right to open these sockets.
Result<void> Server::serve_captured(UniqueFd socket) {
  if (!is_of_fence_) return Error{"the daemon does not listen on the gateway of the fence"};
  if (shared_->draining) return Error{"the daemon is draining"};
  CaptureSockets sockets;
  if (auto added = add_passed(sockets, std::move(socket)); !added) return added;
  const bool is_there = sockets.questions.empty() ? has_captured_connections_ : has_questions_;
  if (is_there) return Error{"the daemon has this socket already"};
  if (auto done = share_listener(sockets, workers_.size()); !done) return done;
  give_capture(std::move(sockets));
  return {};
}

std::optional<bool> Server::is_capturing() const {
  if (!is_of_fence_) return std::nullopt;
  return has_captured_connections_ && has_questions_;
}

}  // namespace stile::server
