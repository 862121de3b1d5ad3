// SpawnServer: the spawner's socket.
#include "spawn/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/local_socket.h"
#include "base/passed_descriptors.h"
#include "spawn/answers.h"
#include "spawn/request.h"

namespace stile::spawn {
namespace {

constexpr std::size_t most_connections = 128;
constexpr std::size_t most_of_one_user = 32;
// For a request to arrive and for an answer to be read. While a worker starts or a task is waited
// for, no time runs.
constexpr std::chrono::seconds patience{30};

}  // namespace

// One client. While a request is being answered, nothing more is read.
class SpawnServer::Connection {
 public:
  Connection(SpawnServer& server, std::uint64_t id, UniqueFd fd, const Caller& peer)
      : server_{server}, id_{id}, fd_{std::move(fd)}, peer_{peer} {}

  [[nodiscard]] const Caller& peer() const noexcept { return peer_; }

  bool start() {
    ready_ = add_io(server_.loop_, fd_.get(), EPOLLIN, on_ready, this);
    return ready_ && restart_timer();
  }

  void answer(const std::string& text) {
    is_busy_ = false;
    out_ += text;
    out_ += '\n';
    if (is_serving_) return;  // next_request() goes on
    if (!restart_timer()) return close();
    flush();
  }

 private:
  static int on_ready(sd_event_source* /*source*/, int /*fd*/, std::uint32_t events,
                      void* userdata) {
    auto& self = *static_cast<Connection*>(userdata);
    // The client is gone; there is no reader for an answer.
    const bool has_gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if (has_gone && (self.is_busy_ || (events & EPOLLIN) == 0)) {
      self.close();
    } else if ((events & EPOLLOUT) != 0) {
      self.flush();
    } else {
      self.receive();
    }
    return 0;
  }

  static int on_time(sd_event_source* /*source*/, std::uint64_t /*now*/, void* userdata) {
    static_cast<Connection*>(userdata)->close();
    return 0;
  }

  bool restart_timer() {
    timer_ = add_timer(server_.loop_, patience, on_time, this);
    return timer_ != nullptr;
  }

  void receive() {
    std::array<char, 65536> bytes;
    const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) return close();
    is_over_ = got == 0;
    in_.append(bytes.data(), static_cast<std::size_t>(got));
    next_request();
  }

  // Serves the requests that are complete, one after the other.
  void next_request() {
    while (!is_busy_ && out_.empty()) {
      in_.erase(0, in_.find_first_not_of(" \t\r\n"));
      auto end = request_end(in_);
      if (!end && is_over_ && !in_.empty()) end = in_.size();  // half a request, for its error
      if (end.value_or(in_.size()) > max_request_bytes) {
        is_over_ = true;
        in_.clear();
        out_ = error_answer("Request larger than 64 KiB") + '\n';
        return flush();
      }
      if (!end) return is_over_ ? close() : watch();
      const auto request = in_.substr(0, *end);
      in_.erase(0, *end);
      is_busy_ = is_serving_ = true;
      timer_.reset();
      auto* server = &server_;
      server_.serve_(peer_, request,
                     [server, id = id_](const std::string& text) { server->answer(id, text); });
      is_serving_ = false;
      if (!is_busy_ && (!restart_timer() || !send())) return close();
    }
    watch();
  }

  bool send() {
    const auto sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
    return sent >= 0 || errno == EAGAIN || errno == EINTR;
  }

  void flush() {
    if (!send()) return close();
    next_request();
  }

  // A client that has closed its side for writing waits for its answer: nothing more is read then.
  void watch() {
    const bool reads = !is_busy_ && !is_over_ && out_.empty();
    const auto events = reads          ? std::uint32_t{EPOLLIN}
                        : out_.empty() ? 0U
                                       : std::uint32_t{EPOLLOUT};
    sd_event_source_set_io_events(ready_.get(), events);
  }

  void close() { server_.connections_.erase(id_); }  // deletes this

  SpawnServer& server_;
  std::uint64_t id_;
  UniqueFd fd_;
  Caller peer_;
  EventSource ready_, timer_;
  std::string in_, out_;
  bool is_busy_ = false;     // a request waits for its answer
  bool is_serving_ = false;  // it is handed over right now
  bool is_over_ = false;     // no more requests will arrive
};

SpawnServer::SpawnServer(sd_event* loop, UniqueFd listener, Serve serve)
    : loop_{loop}, listener_{std::move(listener)}, serve_{std::move(serve)} {}

SpawnServer::~SpawnServer() = default;

Result<void> SpawnServer::start() {
  refuse_descriptors(listener_.get());
  ready_ = add_io(loop_, listener_.get(), EPOLLIN, on_client, this);
  if (!ready_) return Error{"cannot serve the socket"};
  return {};
}

int SpawnServer::on_client(sd_event_source* /*source*/, int /*fd*/, std::uint32_t /*events*/,
                           void* userdata) {
  static_cast<SpawnServer*>(userdata)->accept();
  return 0;
}

void SpawnServer::accept() {
  UniqueFd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!fd) return;
  const auto credentials = peer_credentials(fd.get());
  if (!credentials) return;
  const Caller peer{credentials->pid, credentials->uid};
  const auto same = std::count_if(connections_.begin(), connections_.end(), [&](const auto& one) {
    return one.second->peer().uid == peer.uid;
  });
  if (connections_.size() >= most_connections ||
      static_cast<std::size_t>(same) >= most_of_one_user) {
    const auto text = error_answer("Too many connections") + '\n';
    static_cast<void>(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
    return;
  }
  const auto id = ++last_id_;
  auto connection = std::make_unique<Connection>(*this, id, std::move(fd), peer);
  auto* started = connection.get();
  connections_[id] = std::move(connection);
  if (!started->start()) connections_.erase(id);
}

void SpawnServer::answer(std::uint64_t id, const std::string& text) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) found->second->answer(text);
}

}  // namespace stile::spawn
