// serve_admin: a connection answers with one of three pages.
#include "proxy/server/admin_http.h"

#include <chrono>
#include <utility>

namespace stile::server {
namespace {

namespace http = boost::beast::http;

constexpr HttpLimits limits{32, 0, std::chrono::seconds{10}};

class Connection final : public HttpConnection {
 public:
  Connection(HttpSocket socket, HttpClientsPtr clients, AdminPages pages)
      : HttpConnection{std::move(socket), std::move(clients)}, pages_{std::move(pages)} {}

 private:
  void serve() override {
    const auto target = request().target();
    if (request().method() != http::verb::get && request().method() != http::verb::head) {
      return answer(405, "only GET\n");
    }
    if (target == "/healthz") return answer(200, "ok\n");
    if (target == "/readyz") {
      return pages_.is_ready() ? answer(200, "ready\n") : answer(503, "not ready\n");
    }
    if (target != "/metrics") return answer(404, "try /metrics\n");
    pages_.metrics([self = shared_from_this(), this](std::string text) {
      if (text.empty()) return answer(503, "the workers do not answer\n");
      answer(200, std::move(text));
    });
  }

  void refuse(unsigned status, std::string_view message) override {
    answer(status, std::string{message} + '\n');
  }

  void answer(unsigned status, std::string body) {
    HttpResponse response{http::int_to_status(status), 11};
    response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response.body() = std::move(body);
    respond(std::move(response));
  }

  AdminPages pages_;
};

}  // namespace

std::unique_ptr<HttpServer> serve_admin(boost::asio::ip::tcp::acceptor acceptor,
                                        const AdminPages& pages) {
  return std::make_unique<HttpServer>(
      std::move(acceptor), limits, [pages](HttpSocket socket, HttpClientsPtr clients) {
        return std::make_shared<Connection>(std::move(socket), std::move(clients), pages);
      });
}

}  // namespace stile::server
