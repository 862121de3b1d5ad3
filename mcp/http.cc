// serve_http: Gate and Protocol decide, on one thread.
#include "mcp/http.h"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/http_connection.h"
#include "config/endpoint.h"
#include "mcp/gate.h"
#include "mcp/running_call.h"
#include "web/loopback.h"

namespace stile::mcp {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr HttpLimits limits{64, max_message_bytes, std::chrono::seconds{60}};
constexpr std::string_view json_type = "application/json";
constexpr std::string_view session_header = "Mcp-Session-Id";

// What all connections share.
struct Site {
  asio::io_context& context;
  const Protocol& protocol;
  Gate gate;
  McpSessions sessions;
  std::map<std::string, RunningCallPtr> named;   // calls of sessions, by session and id
  std::map<RunningCall*, RunningCallPtr> calls;  // all
  Runner runner;                                 // last: its threads use the others
};

std::string name_of(const std::string& session, const Json& id) {
  return session + ' ' + id.dump();
}

std::string event_of(const std::string& message) {
  return "event: message\ndata: " + message + "\n\n";
}

class Connection final : public HttpConnection {
 public:
  Connection(HttpSocket socket, HttpClientsPtr clients, std::shared_ptr<Site> site)
      : HttpConnection{std::move(socket), std::move(clients)}, site_{std::move(site)} {}

 private:
  std::shared_ptr<Connection> self() {
    return std::static_pointer_cast<Connection>(shared_from_this());
  }

  [[nodiscard]] McpCredentials credentials() const {
    McpCredentials given;
    given.hosts = hosts();
    given.origin = header("Origin");
    given.authorization = header("Authorization").value_or("");
    return given;
  }

  void serve() override {
    const auto refusal = site_->gate.judge(credentials());
    if (refusal.status != 200) return refuse(refusal.status, refusal.message);
    set_known();
    if (request().target() != http_path) return refuse(404, "MCP is at /mcp");
    if (request().method() == http::verb::delete_) return end_session();
    if (request().method() != http::verb::post) {
      return refuse(405, "send messages with POST; there is no stream to GET");
    }
    const auto type = header("Content-Type").value_or("");
    if (!equal_ignoring_case(type.substr(0, type.find(';')), json_type)) {
      return refuse(415, "the content type must be application/json");
    }
    const auto message = parse_message(request().body());
    if (!message) return answer(Protocol::refuse(message.error()));
    take(*message);
  }

  void end_session() {
    const auto id = header(session_header).value_or("");
    if (!site_->sessions.close(id)) return refuse(404, "there is no such session");
    for (const auto& [name, call] : site_->named) {
      if (name.starts_with(id + ' ')) call->end(CallContext::State::abandoned);
    }
    answer({"", 204});
  }

  void take(const RpcMessage& message) {
    const HttpHeaders headers{header("MCP-Protocol-Version"), header("Mcp-Method"),
                              header("Mcp-Name")};
    Handshake none;
    Handshake* handshake = &none;
    session_.clear();
    const bool begins = message.method == "initialize";
    if (Protocol::era_of(message, &headers) == Era::session && !begins) {
      session_ = header(session_header).value_or("");
      if (session_.empty()) return refuse(400, "send initialize first");
      handshake = site_->sessions.find(session_);
      if (handshake == nullptr) return refuse(404, "there is no such session");
    }
    auto step = site_->protocol.take(message, *handshake, &headers);
    if (const auto* reply = std::get_if<Reply>(&step)) {
      if (!none.version.empty()) new_session_ = site_->sessions.open(std::move(none));
      return answer(*reply);
    }
    if (auto* call = std::get_if<ToolCall>(&step)) return start(std::move(*call));
    if (const auto* cancel = std::get_if<Cancel>(&step)) {
      const auto found = site_->named.find(name_of(session_, cancel->id));
      // Without a session only the end of the connection cancels: ids of two clients may be equal.
      if (!session_.empty() && found != site_->named.end()) {
        found->second->end(CallContext::State::canceled);
      }
    }
    answer({"", 202});
  }

  void start(ToolCall called) {
    accepts_events_ = header("Accept").value_or("").find("text/event-stream") != std::string::npos;
    has_events_ = false;
    const bool is_named = called.era == Era::session;
    const auto name = name_of(session_, called.id);
    if (is_named && site_->named.count(name) != 0) {
      return answer(
          Protocol::refuse(called.id, called.era,
                           {RpcCode::invalid_request, "a call with this id runs already", {}}));
    }
    const std::weak_ptr<Connection> weak = self();
    auto report = [weak, &context = site_->context](std::string message) {
      asio::post(context, [weak, message = std::move(message)] {
        if (const auto self = weak.lock()) self->send_event(message);
      });
    };
    call_ = std::make_shared<RunningCall>(std::move(called), std::move(report));
    // Runs on another thread, which must not be the one that destroys the connection.
    auto done = [self = self(), call = call_, name, is_named](const ToolOutcome& outcome) mutable {
      const Reply reply = self->site_->protocol.finish(call->call(), outcome);
      asio::io_context& context = self->site_->context;
      asio::post(context, [self = std::move(self), call, name, is_named, reply] {
        self->site_->calls.erase(call.get());
        if (is_named) self->site_->named.erase(name);
        self->finish(reply);
      });
    };
    if (!site_->runner.start(call_, std::move(done))) {
      const auto call = std::exchange(call_, nullptr);
      return answer(Protocol::refuse(call->call().id, call->call().era,
                                     {RpcCode::too_busy, "16 calls run already", {}}));
    }
    site_->calls.emplace(call_.get(), call_);
    if (is_named) site_->named.emplace(name, call_);
    watch(call_);
  }

  // A client of the stateless era cancels a call by closing its connection. One of the session era
  // says so, and may come back for its task.
  void watch(const RunningCallPtr& call) {
    socket().async_wait(HttpSocket::wait_read, [self = self(), call](error_code ec) {
      if (self->call_ != call) return;  // it has ended
      char byte = 0;
      const int fd = self->socket().native_handle();
      const auto count = ec ? 0 : ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (count > 0) return;  // the next request came early; it is read later
      self->is_gone_ = true;
      if (call->call().era == Era::stateless) call->end(CallContext::State::canceled);
    });
  }

  void send_event(const std::string& message) {
    if (!accepts_events_ || call_ == nullptr || is_gone_) return;
    if (frames_.size() >= max_frames)
      return;  // the client reads too slowly; the result comes anyway
    if (!has_events_) begin_events();
    frames_.push_back(event_of(message));
    write_frame();
  }

  void begin_events() {
    has_events_ = true;
    frames_.push_back(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
  }

  void write_frame() {
    if (is_writing_ || frames_.empty()) return;
    is_writing_ = true;
    write_text(std::move(frames_.front()), [this] {
      is_writing_ = false;
      if (!frames_.empty()) return write_frame();
      if (call_ == nullptr) close();  // that was the result
    });
    frames_.pop_front();
  }

  void finish(const Reply& reply) {
    const auto call = std::exchange(call_, nullptr);
    if (is_gone_) return close();
    const bool is_wanted = call->state() == CallContext::State::wanted;
    if (!has_events_) {
      return answer(is_wanted ? reply
                              : Protocol::refuse(call->call().id, call->call().era,
                                                 {RpcCode::internal_error, "canceled", {}}));
    }
    if (is_wanted) frames_.push_back(event_of(reply.text));
    if (frames_.empty() && !is_writing_) return close();
    write_frame();
  }

  void refuse(unsigned status, std::string_view message) override {
    answer({fault_text({}, {RpcCode::invalid_request, std::string{message}, {}}), status});
  }

  void answer(const Reply& reply) {
    HttpResponse response{http::int_to_status(reply.status), 11};
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    if (!reply.text.empty()) response.set(http::field::content_type, json_type);
    if (reply.status == 401) response.set(http::field::www_authenticate, "Bearer");
    if (reply.status == 405) response.set(http::field::allow, "POST, DELETE");
    if (!new_session_.empty()) response.set(session_header, std::exchange(new_session_, {}));
    response.body() = reply.text;
    respond(std::move(response));
  }

  static constexpr std::size_t max_frames = 64;

  std::shared_ptr<Site> site_;
  std::string session_, new_session_;
  RunningCallPtr call_;
  std::deque<std::string> frames_;  // to be written
  bool accepts_events_ = false, has_events_ = false;
  bool is_writing_ = false, is_gone_ = false;
};

// Port 0: the kernel chooses one.
Result<config::Endpoint> parse_listen(std::string text) {
  const bool takes_any = text.ends_with(":0");
  if (takes_any) text.back() = '1';
  auto endpoint = config::parse_endpoint(text);
  if (endpoint && takes_any) endpoint->port = 0;
  return endpoint;
}

}  // namespace

Result<void> serve_http(const Protocol& protocol, ToolBox& tools, const HttpOptions& options,
                        const std::function<void(const std::string& url)>& on_ready) {
  auto endpoint = parse_listen(options.listen);
  if (!endpoint) return Error{"--http: " + endpoint.error().message};
  if (!endpoint->unix_path.empty() || !config::is_loopback(endpoint->address)) {
    return Error{options.listen +
                 " is not a loopback address; use ssh -L to reach it from elsewhere"};
  }
  asio::io_context context{1};
  auto listener = web::listen_on_loopback(context, *endpoint);
  if (!listener) return listener.error();
  Gate gate{std::move(listener->origins), options.token};
  const auto url = gate.first().text() + http_path;
  const std::shared_ptr<Site> site{
      new Site{context, protocol, std::move(gate), {}, {}, {}, Runner{tools}}};
  asio::signal_set signals{context, SIGINT, SIGTERM};
  signals.async_wait([&context](error_code ec, int) {
    if (!ec) context.stop();
  });
  {
    const HttpServer server{HttpServer::Acceptor{std::move(listener->acceptor)}, limits,
                            [&site](HttpSocket socket, HttpClientsPtr clients) {
                              return std::make_shared<Connection>(std::move(socket),
                                                                  std::move(clients), site);
                            }};
    on_ready(url);
    context.run();
  }
  for (const auto& [key, call] : site->calls) call->end(CallContext::State::abandoned);
  site->runner.join();
  return {};
}

}  // namespace stile::mcp
