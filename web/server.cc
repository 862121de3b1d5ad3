// The web server: binds, gives up every right it does not need, then serves.
#include "web/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/json.h"
#include "base/local_socket.h"
#include "base/quoted.h"
#include "config/endpoint.h"
#include "control/daemon_sockets.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/sandbox.h"
#include "proxy/server/unix_socket.h"
#include "web/http.h"
#include "web/login_socket.h"
#include "web/loopback.h"

namespace stile::web {
namespace {

namespace asio = boost::asio;

// The spawner accepts 32 connections of one user. A spawn or a termination may take a minute.
// Callers of A2A have connections of their own: they cannot keep people from stopping workers.
constexpr ControlLink::Limits spawner_limits{8, std::chrono::seconds{90}};
constexpr ControlLink::Limits a2a_limits{20, std::chrono::seconds{90}};
constexpr mode_t only_owner = 0600, owner_and_group = 0660;

struct Listener {
  HttpServer::Acceptor acceptor;
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
  auto bound = listen_on_loopback(context, endpoint);
  if (!bound) return bound.error();
  return Listener{HttpServer::Acceptor{std::move(bound->acceptor)}, std::move(bound->origins)};
}

Result<Listener> bind_page(asio::io_context& context, const WebOptions& options) {
  const auto endpoint = config::parse_endpoint(options.listen);
  if (!endpoint) return Error{"--listen: " + endpoint.error().message};
  if (endpoint->unix_path.empty()) return bind_tcp(context, *endpoint);
  auto fd = bind_socket(endpoint->unix_path, options.group, options.listen);
  if (!fd) return fd.error();
  const asio::generic::stream_protocol unix_stream{AF_UNIX, 0};
  return Listener{{context, unix_stream, fd->release()}, {{"http", "localhost"}}};
}

Result<UniqueFd> bind_login(const WebOptions& options) {
  const auto path = control::login_sockets(options.login).front();
  // As a service, systemd creates the folder; by hand nothing does.
  const auto folder = std::filesystem::path{path}.parent_path().string();
  ::mkdir(folder.c_str(), options.group.empty() ? 0700 : 0755);
  return bind_socket(path, options.group, path);
}

Result<std::vector<Origin>> all_origins(const WebOptions& options, const Listener& listener) {
  std::vector<Origin> origins;
  for (const auto& text : options.origins) {
    const auto origin = parse_origin(text);
    if (!origin) return Error{"--origin: " + origin.error().message};
    origins.push_back(*origin);
  }
  origins.insert(origins.end(), listener.origins.begin(), listener.origins.end());
  return origins;
}

Result<std::vector<std::string>> daemon_paths(const WebOptions& options) {
  auto paths = control::daemon_sockets(options.socket);
  for (const auto& path : paths) {
    if (path.size() > max_socket_path) {
      return Error{in_quotes(path) + " is too long for the path of a socket"};
    }
  }
  return paths;
}

// Nothing may serve that path; it is tried for each request.
Result<std::optional<std::string>> spawner_path(const WebOptions& options) {
  if (options.spawner == "-") return std::optional<std::string>{};
  auto path = control::spawner_socket(options.spawner);
  if (path.size() > max_socket_path) {
    return Error{"--spawner: " + in_quotes(path) + " is too long for the path of a socket"};
  }
  return std::optional{std::move(path)};
}

// The token is in the fragment: browsers send it to no server, and in no Referer.
std::string link(const Origin& origin, BrowserSessions& sessions) {
  return origin.text() + "/#token=" + sessions.new_token(std::chrono::steady_clock::now());
}

Result<void> run(const WebOptions& options) {
  asio::io_context context{1};
  auto paths = daemon_paths(options);
  if (!paths) return paths.error();
  const auto spawner_socket = spawner_path(options);
  if (!spawner_socket) return spawner_socket.error();
  auto page = bind_page(context, options);
  if (!page) return page.error();
  auto origins = all_origins(options, *page);
  if (!origins) return origins.error();
  auto login = bind_login(options);
  if (!login) return login.error();

  BrowserSessions sessions;
  ControlLink control{context, std::move(*paths), {}};
  std::optional<ControlLink> spawner, a2a_spawner;
  if (*spawner_socket) {
    spawner.emplace(context, std::vector<std::string>{**spawner_socket}, spawner_limits);
    a2a_spawner.emplace(context, std::vector<std::string>{**spawner_socket}, a2a_limits);
  }
  ControlLink* const workers = spawner ? &*spawner : nullptr;
  Feed feed{context, control, workers};
  std::optional<A2aBackend> backend;
  if (spawner) {
    backend.emplace(
        A2aBackend{*a2a_spawner, [&feed](std::string_view agent) { return feed.ask_of(agent); }});
  }
  // Read now: later this process can open no file.
  config::CapabilityFiles capabilities{::geteuid()};
  if (const auto& read = capabilities.get(); !read) log::warnings(read.error().text());
  Site site{context, std::move(*origins),           sessions,    control, workers,
            feed,    backend ? &*backend : nullptr, capabilities};
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
  const auto server = serve_pages(std::move(page->acceptor), site);
  feed.start();
  log::info("the page is at " + first.text() + "; `stile web` prints a link to log in");
  // Only a person at a terminal sees this; a token must not reach a log.
  if (::isatty(STDOUT_FILENO) == 1) std::cout << link(first, sessions) << std::endl;
  context.run();
  return {};
}

}  // namespace

int serve(const WebOptions& options) {
  server::prepare_process();
  if (auto done = run(options); !done) {
    log::error(done.error().message);
    return 1;
  }
  return 0;
}

}  // namespace stile::web
