// HttpConnection: Beast reads, one request after the other.
#include "base/http_connection.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

#include "base/ascii.h"

namespace stile {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds write_time{10};
constexpr std::chrono::seconds drain_time{1};
constexpr std::size_t max_drained_bytes = 256 * 1024;
constexpr std::size_t drained_at_once = 64 * 1024;

bool is_about_syntax(beast::error_code ec) {
  static const beast::error_code sample = http::error::bad_target;
  return ec.category() == sample.category() && ec != http::error::end_of_stream &&
         ec != http::error::partial_message;
}

}  // namespace

std::string http_text(const HttpResponse& response) {
  std::string text = response.version() == 10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  text.append(std::to_string(response.result_int())).append(" ").append(response.reason());
  text += "\r\n";
  for (const auto& field : response) {
    text.append(field.name_string()).append(": ").append(field.value()).append("\r\n");
  }
  return text.append("\r\n").append(response.body());
}

HttpConnection::HttpConnection(HttpSocket socket, HttpClientsPtr clients)
    : stream_{std::move(socket)},
      clients_{std::move(clients)},
      buffer_{max_head_bytes + std::max(clients_->limits.body_bytes, drained_at_once)} {
  ++clients_->open;
}

void HttpConnection::read() {
  parser_.emplace();
  parser_->header_limit(max_head_bytes);
  parser_->body_limit(clients_->limits.body_bytes);
  stream_.expires_after(clients_->limits.request_time);
  wait();
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code ec, std::size_t) {
                     self->clients_->waiting.remove(self.get());
                     if (ec) return self->end_unread(ec);
                     self->serve();
                   });
}

// Until the client has sent its request, read its answer or ended, it may have to give way.
void HttpConnection::wait() {
  clients_->waiting.add(this, is_known_, [this] { close(); });
}

void HttpConnection::end_unread(beast::error_code ec) {
  is_unread_ = true;
  if (ec == http::error::body_limit) {
    return refuse(
        413, "a request has at most " + std::to_string(clients_->limits.body_bytes) + " bytes");
  }
  if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
    return refuse(431, "a request head has at most " + std::to_string(max_head_bytes) + " bytes");
  }
  if (!is_about_syntax(ec)) return close();
  refuse(400, "not an HTTP request");
}

std::optional<std::string> HttpConnection::header(std::string_view name) const {
  const auto found = request().find(name);
  if (found == request().end()) return std::nullopt;
  return std::string{found->value()};
}

std::vector<std::string> HttpConnection::hosts() const {
  std::vector<std::string> all;
  const auto [first, last] = request().equal_range(http::field::host);
  for (auto it = first; it != last; ++it) all.push_back(lower_case(it->value()));
  return all;
}

void HttpConnection::respond(HttpResponse response) {
  response.version(request().version());
  response.keep_alive(request().keep_alive() && !is_unread_);
  response.prepare_payload();
  if (request().method() == http::verb::head) response.body().clear();
  wait();
  write_text(http_text(response), [this, is_last = !response.keep_alive()] {
    if (is_unread_) return drain();
    if (is_last) return close();
    read();
  });
}

void HttpConnection::write_text(std::string text, std::function<void()> then) {
  text_ = std::move(text);
  stream_.expires_after(write_time);
  asio::async_write(
      stream_, asio::buffer(text_),
      [self = shared_from_this(), then = std::move(then)](beast::error_code ec, std::size_t) {
        self->clients_->waiting.remove(self.get());
        if (ec) return self->close();
        then();
      });
}

void HttpConnection::close() {
  is_closed_ = true;
  beast::error_code ignored;
  stream_.socket().close(ignored);
}

// Reads what a refused client still sends: a reset would discard the answer on its way.
void HttpConnection::drain() {
  beast::error_code ignored;
  stream_.socket().shutdown(HttpSocket::shutdown_send, ignored);
  buffer_.clear();
  stream_.expires_after(drain_time);
  wait();
  discard(max_drained_bytes);
}

void HttpConnection::discard(std::size_t most) {
  stream_.async_read_some(
      buffer_.prepare(std::min(most, drained_at_once)),
      [self = shared_from_this(), most](beast::error_code ec, std::size_t size) {
        if (!ec && size < most) return self->discard(most - size);
        self->clients_->waiting.remove(self.get());
        self->close();
      });
}

HttpServer::HttpServer(Acceptor acceptor, const HttpLimits& limits, Make make)
    : loop_{std::move(acceptor),
            [make = std::move(make),
             clients = std::make_shared<HttpClients>(HttpClients{limits})](HttpSocket socket) {
              // A connection that gives way ends before the next one is taken.
              if (clients->open == clients->limits.connections && !clients->waiting.close_one()) {
                return;
              }
              make(std::move(socket), clients)->read();
            }} {}

}  // namespace stile
