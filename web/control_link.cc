// ControlLink: one connection per call, which costs little on a unix socket.
#include "web/control_link.h"

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

namespace stile::web {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// One connection; its handlers keep it alive.
class Call : public std::enable_shared_from_this<Call> {
 public:
  struct Handlers {
    ControlLink::TakeLine on_line;
    std::function<void()> on_end;
  };
  Call(asio::io_context& context, std::string request, Handlers handlers)
      : socket_{context},
        deadline_{context},
        request_{std::move(request) + '\n'},
        handlers_{std::move(handlers)} {}

  void start(const std::vector<std::string>& paths, std::chrono::seconds patience) {
    deadline_.expires_after(patience);
    deadline_.async_wait([self = shared_from_this()](error_code ec) {
      if (!ec) self->end();
    });
    connect(paths, 0);
  }

 private:
  void connect(const std::vector<std::string>& paths, std::size_t index) {
    if (index == paths.size()) return end();
    error_code ignored;
    socket_.close(ignored);
    socket_.async_connect(asio::local::stream_protocol::endpoint{paths[index]},
                          [self = shared_from_this(), paths, index](error_code ec) {
                            if (self->is_over_) return;
                            if (ec) return self->connect(paths, index + 1);
                            self->send();
                          });
  }

  void send() {
    asio::async_write(socket_, asio::buffer(request_),
                      [self = shared_from_this()](error_code ec, std::size_t) {
                        if (ec) return self->end();
                        self->receive();
                      });
  }

  void receive() {
    socket_.async_read_some(asio::buffer(piece_),
                            [self = shared_from_this()](error_code ec, std::size_t size) {
                              if (ec) return self->end();
                              self->take(size);
                            });
  }

  void take(std::size_t size) {
    if (buffer_.size() + size > ControlLink::max_answer_bytes) return end();
    std::size_t searched = buffer_.size(), begin = 0;
    buffer_.append(piece_.data(), size);
    for (auto at = buffer_.find('\n', searched); at != std::string::npos;
         at = buffer_.find('\n', begin)) {
      deadline_.cancel();
      if (!handlers_.on_line(std::string_view{buffer_}.substr(begin, at - begin))) return end();
      begin = at + 1;
    }
    buffer_.erase(0, begin);
    receive();
  }

  void end() {
    if (std::exchange(is_over_, true)) return;
    error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    handlers_.on_end();
  }

  asio::local::stream_protocol::socket socket_;
  asio::steady_timer deadline_;
  std::string request_, buffer_;
  Handlers handlers_;
  std::array<char, 16384> piece_{};
  bool is_over_ = false;
};

}  // namespace

ControlLink::ControlLink(asio::io_context& context, std::vector<std::string> paths, Limits limits)
    : context_{context},
      paths_{std::move(paths)},
      limits_{limits},
      calls_{std::make_shared<std::size_t>(0)} {}

void ControlLink::ask(std::string request, Done done) {
  if (*calls_ == limits_.calls) {
    asio::post(context_, [done = std::move(done)] { done(std::nullopt); });
    return;
  }
  ++*calls_;
  auto answer = std::make_shared<std::optional<std::string>>();
  const auto on_line = [answer](std::string_view line) {
    answer->emplace(line);
    return false;
  };
  const auto on_end = [answer, calls = calls_, done = std::move(done)] {
    --*calls;
    done(std::move(*answer));
  };
  std::make_shared<Call>(context_, std::move(request), Call::Handlers{on_line, on_end})
      ->start(paths_, limits_.patience);
}

void ControlLink::follow(std::string request, OnLine on_line, std::function<void()> on_end) {
  read(
      std::move(request),
      [on_line = std::move(on_line)](std::string_view line) {
        on_line(line);
        return true;
      },
      std::move(on_end));
}

void ControlLink::read(std::string request, TakeLine on_line, std::function<void()> on_end) {
  std::make_shared<Call>(context_, std::move(request),
                         Call::Handlers{std::move(on_line), std::move(on_end)})
      ->start(paths_, limits_.patience);
}

}  // namespace stile::web
