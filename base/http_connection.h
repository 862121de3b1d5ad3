// HttpConnection: one client of a small HTTP server. It reads requests within limits, writes
// answers, and closes while it waits for the client if a new client needs the place.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/accept_loop.h"
#include "base/waiting_clients.h"

namespace stile {

using HttpProtocol = boost::asio::generic::stream_protocol;
using HttpSocket = HttpProtocol::socket;
using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;
using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;
// The bytes of a response. Beast's own serializer takes three seconds to compile in each file.
[[nodiscard]] std::string http_text(const HttpResponse& response);

struct HttpLimits {
  std::size_t connections;
  std::size_t body_bytes;
  std::chrono::seconds request_time;  // from the start of the wait to the last byte of the request
};

// What all connections of a server share.
struct HttpClients {
  HttpLimits limits;
  std::size_t open = 0;
  WaitingClients waiting{};  // connections that are not being served
};
using HttpClientsPtr = std::shared_ptr<HttpClients>;

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  static constexpr std::size_t max_head_bytes = 8192;

  HttpConnection(HttpSocket socket, HttpClientsPtr clients);
  virtual ~HttpConnection() { --clients_->open; }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // The next request. The handlers keep the connection alive.
  void read();

 protected:
  virtual void serve() = 0;
  // Answers a request that could not be read; the connection closes afterwards.
  virtual void refuse(unsigned status, std::string_view message) = 0;

  [[nodiscard]] const HttpRequest& request() const { return parser_->get(); }
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> hosts() const;  // all Host headers, in lower case
  [[nodiscard]] HttpSocket& socket() { return stream_.socket(); }
  // The client has proved who it is: others give way first.
  void set_known() { is_known_ = true; }

  void respond(HttpResponse response);
  // A part of an answer. `then` is not called if the client has gone.
  void write_text(std::string text, std::function<void()> then);
  void close();
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  void wait();
  void end_unread(boost::system::error_code ec);
  void drain();
  void discard(std::size_t most);

  boost::beast::basic_stream<HttpProtocol> stream_;
  HttpClientsPtr clients_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::string text_;  // is being written
  bool is_known_ = false, is_unread_ = false, is_closed_ = false;
};

// HttpServer: accepts connections.
class HttpServer {
 public:
  using Loop = AcceptLoop<HttpProtocol>;
  using Acceptor = Loop::Acceptor;
  using Make = std::function<std::shared_ptr<HttpConnection>(HttpSocket, HttpClientsPtr)>;

  HttpServer(Acceptor acceptor, const HttpLimits& limits, Make make);

  // Connections that are open are served to their end.
  void stop_accepting() { loop_.close(); }
  [[nodiscard]] int listener() noexcept { return loop_.fd(); }

 private:
  Loop loop_;
};

}  // namespace stile
