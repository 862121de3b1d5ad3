// AdminHttp: /metrics, /healthz and /readyz on their own address.
#include "proxy/server/admin_http.h"

#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>

#include "base/http_text.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr int max_connections = 32;
constexpr std::chrono::seconds time_limit{10};
constexpr std::size_t max_header = 8192;

// One connection; its handlers keep it alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, const AdminHttp::Pages& pages, std::shared_ptr<int> open)
      : stream_{std::move(socket)}, pages_{pages}, open_{std::move(open)} {
    ++*open_;
  }
  ~Connection() { --*open_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(max_header);
    parser_->body_limit(0);
    stream_.expires_after(time_limit);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code ec, std::size_t) {
                       if (!ec) self->route();
                     });
  }

 private:
  void route() {
    const auto& request = parser_->get();
    const auto target = request.target();
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return answer(http::status::method_not_allowed, "only GET\n");
    }
    if (target == "/healthz") return answer(http::status::ok, "ok\n");
    if (target == "/readyz") {
      return pages_.is_ready() ? answer(http::status::ok, "ready\n")
                               : answer(http::status::service_unavailable, "not ready\n");
    }
    if (target != "/metrics") return answer(http::status::not_found, "try /metrics\n");
    pages_.metrics([self = shared_from_this()](std::string text) {
      if (text.empty()) {
        self->answer(http::status::service_unavailable, "the workers do not answer\n");
      } else {
        self->answer(http::status::ok, std::move(text));
      }
    });
  }

  void answer(http::status status, std::string body) {
    const auto& request = parser_->get();
    response_ = {status, request.version()};
    response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response_.keep_alive(request.keep_alive());
    response_.body() = std::move(body);
    response_.prepare_payload();
    if (request.method() == http::verb::head) response_.body().clear();
    stream_.expires_after(time_limit);
    text_ = http_text(response_);
    asio::async_write(stream_, asio::buffer(text_),
                      [self = shared_from_this()](beast::error_code ec, std::size_t) {
                        if (!ec && self->response_.keep_alive()) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{max_header};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
  std::string text_;
  const AdminHttp::Pages& pages_;
  std::shared_ptr<int> open_;
};

}  // namespace

AdminHttp::AdminHttp(asio::ip::tcp::acceptor acceptor, Pages pages)
    : pages_{std::move(pages)},
      open_{std::make_shared<int>(0)},
      connections_{std::move(acceptor), [this](asio::ip::tcp::socket socket) {
                     if (*open_ == max_connections) return;
                     std::make_shared<Connection>(std::move(socket), pages_, open_)->read();
                   }} {}

}  // namespace stile::server
