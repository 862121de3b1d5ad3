// The web server: binds, gives up every right it does not need, then serves.
#include "web/server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "base/json.h"
#include "base/quoted.h"
#include "config/endpoint.h"
#include "control/daemon_sockets.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/sandbox.h"
#include "proxy/server/unix_socket.h"
#include "web/http.h"
#include "web/login_socket.h"

namespace stile::web {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr mode_t only_owner = 0600, owner_and_group = 0660;

struct Listener {
  UniqueFd fd;
  int family = 0;
  std::vector<Origin> origins;
};

Result<UniqueFd> bind_socket(const std::string& path, const std::string& group,
                             const std::string& name) {
  return server::bind_unix(path, {group.empty() ? only_owner : owner_and_group, group}, name);
}

Result<Listener> bind_tcp(asio::io_context& context, const config::Endpoint& endpoint) {
  if (!config::is_loopback(endpoint.address)) {
    return Error{endpoint.text() +
                 " is not a loopback address; use ssh -L or a reverse proxy to reach the page from "
                 "elsewhere"};
  }
  boost::system::error_code ec;
  const tcp::endpoint local{asio::ip::make_address(endpoint.address.text(), ec), endpoint.port};
  tcp::acceptor acceptor{context};
  if (!ec) acceptor.open(local.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (!ec) acceptor.bind(local, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return Error{"cannot listen on " + endpoint.text() + ": " + ec.message()};
  const auto port = std::to_string(acceptor.local_endpoint().port());
  const bool is_v4 = endpoint.address.is_v4();
  const auto host = is_v4 ? endpoint.address.text() : '[' + endpoint.address.text() + ']';
  std::vector<Origin> origins{{"http", host + ':' + port}, {"http", "localhost:" + port}};
  const int family = local.protocol().family();
  return Listener{UniqueFd{acceptor.release()}, family, std::move(origins)};
}

Result<Listener> bind_page(asio::io_context& context, const Options& options) {
  const auto endpoint = config::parse_endpoint(options.listen);
  if (!endpoint) return Error{"--listen: " + endpoint.error().message};
  if (endpoint->unix_path.empty()) return bind_tcp(context, *endpoint);
  auto fd = bind_socket(endpoint->unix_path, options.group, options.listen);
  if (!fd) return fd.error();
  return Listener{std::move(*fd), AF_UNIX, {{"http", "localhost"}}};
}

Result<UniqueFd> bind_login(const Options& options) {
  const auto path = control::login_sockets(options.login).front();
  // As a service, systemd creates the folder; by hand nothing does.
  const auto folder = std::filesystem::path{path}.parent_path().string();
  ::mkdir(folder.c_str(), options.group.empty() ? 0700 : 0755);
  return bind_socket(path, options.group, path);
}

Result<std::vector<Origin>> all_origins(const Options& options, const Listener& listener) {
  std::vector<Origin> origins;
  for (const auto& text : options.origins) {
    const auto origin = parse_origin(text);
    if (!origin) return Error{"--origin: " + origin.error().message};
    origins.push_back(*origin);
  }
  origins.insert(origins.end(), listener.origins.begin(), listener.origins.end());
  return origins;
}

Result<std::vector<std::string>> daemon_paths(const Options& options) {
  auto paths = control::daemon_sockets(options.socket);
  for (const auto& path : paths) {
    if (path.size() >= sizeof sockaddr_un{}.sun_path) {
      return Error{in_quotes(path) + " is too long for the path of a socket"};
    }
  }
  return paths;
}

// The token is in the fragment: browsers send it to no server, and in no Referer.
std::string link(const Origin& origin, Sessions& sessions) {
  return origin.text() + "/#token=" + sessions.new_token(std::chrono::steady_clock::now());
}

Result<void> run(const Options& options) {
  asio::io_context context{1};
  auto paths = daemon_paths(options);
  if (!paths) return paths.error();
  auto page = bind_page(context, options);
  if (!page) return page.error();
  auto origins = all_origins(options, *page);
  if (!origins) return origins.error();
  auto login = bind_login(options);
  if (!login) return login.error();

  Sessions sessions;
  ControlLink control{context, std::move(*paths)};
  Feed feed{context, control};
  Site site{std::move(*origins), sessions, control, feed};
  asio::signal_set signals{context, SIGINT, SIGTERM};
  signals.async_wait([&context](const boost::system::error_code& ec, int) {
    if (!ec) context.stop();
  });
  if (auto dropped = server::drop_privileges(""); !dropped) return dropped.error();
  if (auto confined = server::confine_front(); !confined) return confined.error();

  const Origin& first = site.origins.front();
  const LoginSocket links{context, std::move(*login), [&] {
                            std::string line;
                            JsonObject{line}.add("ok", true).add("url", link(first, sessions));
                            return line;
                          }};
  const HttpServer server{context, std::move(page->fd), page->family, site};
  feed.start();
  log::info("the page is at " + first.text() + "; `stile web` prints a link to log in");
  // Only a person at a terminal sees this; a token must not reach a log.
  if (::isatty(STDOUT_FILENO) == 1) std::cout << link(first, sessions) << std::endl;
  context.run();
  return {};
}

}  // namespace

int serve(const Options& options) {
  server::prepare_process();
  if (auto done = run(options); !done) {
    log::error(done.error().message);
    return 1;
  }
  return 0;
}

}  // namespace stile::web
