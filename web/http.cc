// HttpServer: Beast reads and writes; gate, route and control_request decide.
#include "web/http.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/http_text.h"
#include "base/json.h"
#include "web/assets.h"
#include "web/client.h"
#include "web/control_request.h"
#include "web/gate.h"
#include "web/policy_exchange.h"
#include "web/route.h"
#include "web/target.h"
#include "web/workers_exchange.h"

namespace stile::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Protocol = asio::generic::stream_protocol;

// From the first byte awaited to the last byte read, and for one write.
constexpr std::chrono::seconds time_limit{10};
constexpr std::chrono::seconds drain_time{1};
constexpr std::size_t max_drained_bytes = 256 * 1024;
constexpr std::size_t max_head_bytes = 8192;
constexpr std::size_t max_body_bytes = 64 * 1024;  // as a request to the control socket
constexpr std::string_view cookie_name = "stile-web";

// No script, style or connection from elsewhere, none inline, no frame around the page, and no way
// to make elements from text.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

WebMethod method_of(http::verb verb) {
  if (verb == http::verb::get || verb == http::verb::head) return WebMethod::get;
  return verb == http::verb::post ? WebMethod::post : WebMethod::other;
}

template <class Fields>
void add_headers(Fields& fields) {
  fields.set("Content-Security-Policy", content_policy);
  fields.set("X-Frame-Options", "DENY");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Opener-Policy", "same-origin");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
  fields.set(http::field::cache_control, "no-store");
}

// One connection; its handlers keep it alive. A stream of events is a page of the feed.
class Connection final : public OpenPage,
                         public WebClient,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(Protocol::socket socket, Site& site)
      : stream_{std::move(socket)}, site_{site}, open_{site.open} {
    ++*open_;
  }
  ~Connection() override { --*open_; }

  void read() {
    parser_.emplace();
    parser_->header_limit(max_head_bytes);
    parser_->body_limit(max_body_bytes);
    stream_.expires_after(time_limit);
    wait();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code ec, std::size_t) {
                       self->site_.waiting.remove(self.get());
                       if (ec) return self->refuse_unread(ec);
                       self->serve();
                     });
  }

  [[nodiscard]] bool is_ready() const override { return !is_writing_; }
  void send(std::string frames) override {
    is_writing_ = true;
    frames_ = std::move(frames);
    stream_.expires_after(time_limit);
    asio::async_write(stream_, asio::buffer(frames_),
                      [self = shared_from_this()](beast::error_code ec, std::size_t) {
                        self->is_writing_ = false;
                        if (ec) return self->close();
                        self->stream_.expires_never();
                      });
  }

  void answer(HttpAnswer said) override {
    more_headers_ = std::move(said.headers);
    answer(said.status, said.type, std::move(said.body));
  }

  void begin_stream(Written written) override {
    http::response<http::string_body> head{http::status::ok, request().version()};
    add_headers(head);
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::connection, "close");  // the stream has no length
    frames_ = http_text(head);
    is_writing_ = true;
    stream_.expires_after(time_limit);
    asio::async_write(stream_, asio::buffer(frames_),
                      [self = shared_from_this(), written = std::move(written)](
                          beast::error_code ec, std::size_t) {
                        self->is_writing_ = false;
                        if (ec) return;
                        self->stream_.expires_never();
                        self->watch();
                        written();
                      });
  }

  void write(std::string frames, Written written) override {
    frames_ = std::move(frames);
    stream_.expires_after(time_limit);
    asio::async_write(stream_, asio::buffer(frames_),
                      [self = shared_from_this(), written = std::move(written)](
                          beast::error_code ec, std::size_t) {
                        if (ec) return self->close();
                        self->stream_.expires_never();
                        written();
                      });
  }

  void end() override { close(); }

  // A client sends nothing before it has its answer.
  void watch() override {
    stream_.expires_never();
    stream_.socket().async_wait(Protocol::socket::wait_read,
                                [self = shared_from_this(), number = ++watch_](beast::error_code) {
                                  if (number == self->watch_) self->close();
                                });
  }

  [[nodiscard]] bool has_gone() const override { return has_gone_; }

 private:
  using Request = http::request<http::string_body>;
  [[nodiscard]] const Request& request() const { return parser_->get(); }

  // Until the client has sent its request, read its answer or ended, it may have to give way.
  void wait() {
    site_.waiting.add(this, is_known_, [this] { close(); });
  }

  void close() {
    has_gone_ = true;
    beast::error_code ignored;
    stream_.socket().close(ignored);
  }

  // Reads what a refused browser still sends: a reset would discard the answer on its way.
  void drain() {
    beast::error_code ignored;
    stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
    buffer_.clear();
    stream_.expires_after(drain_time);
    wait();
    discard(max_drained_bytes);
  }

  void discard(std::size_t most) {
    stream_.async_read_some(
        buffer_.prepare(std::min(most, max_body_bytes)),
        [self = shared_from_this(), most](beast::error_code ec, std::size_t size) {
          if (!ec && size < most) return self->discard(most - size);
          self->site_.waiting.remove(self.get());
          self->close();
        });
  }

  // What was not read to its end is answered if a browser can learn from it, and closed.
  void refuse_unread(beast::error_code ec) {
    must_close_ = true;
    if (ec == http::error::body_limit) {
      return answer_error(413, "too-large", "a request has at most 65536 bytes");
    }
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
      return answer_error(431, "too-large", "a request head has at most 8192 bytes");
    }
    if (ec == beast::error::timeout || ec == http::error::end_of_stream ||
        ec == http::error::partial_message || ec.category() != http_category()) {
      return close();
    }
    answer_error(400, "bad-request", "not an HTTP request");
  }

  static const boost::system::error_category& http_category() {
    static const beast::error_code sample = http::error::bad_target;
    return sample.category();
  }

  [[nodiscard]] std::string header(std::string_view name) const {
    const auto found = request().find(name);
    return found == request().end() ? "" : std::string{found->value()};
  }

  [[nodiscard]] WebCredentials credentials() const {
    WebCredentials given;
    const auto [first, last] = request().equal_range(http::field::host);
    for (auto it = first; it != last; ++it) given.hosts.push_back(lower_case(it->value()));
    if (request().count(http::field::origin) > 0) given.origin = header("Origin");
    given.fetch_site = header("Sec-Fetch-Site");
    given.content_type = header("Content-Type");
    given.cookie = cookie_value(header("Cookie"), cookie_name);
    given.csrf = header("X-Stile-CSRF");
    return given;
  }

  void serve() {
    const auto target = parse_target(request().target());
    if (!target) return answer_error(400, "bad-request", "the target of the request is invalid");
    const WebMethod method = method_of(request().method());
    const Route route = find_route(method, target->path);
    const auto given = credentials();
    const auto now = std::chrono::steady_clock::now();
    const auto refusal = judge(site_.origins, site_.sessions, method, route.endpoint, given, now);
    if (refusal != WebRefusal::none) {
      const auto said = text(refusal);
      return answer_error(said.status, said.code, said.message);
    }
    is_known_ = is_known_ || needs_session(route.endpoint);
    switch (route.endpoint) {
      case WebEndpoint::none:
        return answer_error(404, "not-found", "there is nothing at this path");
      case WebEndpoint::other_method:
        return answer_error(405, "wrong-method", "the path has no such method");
      case WebEndpoint::asset: {
        const Asset& asset = *find_asset(target->path);
        return answer(200, asset.type, std::string{asset.text});
      }
      case WebEndpoint::login:
        return log_in(now);
      case WebEndpoint::logout:
        site_.sessions.log_out(given.cookie);
        return answer(200, json_type, R"({"ok":true})");
      case WebEndpoint::events:
        return stream_events(*target, false);
      case WebEndpoint::worker_events:
        return stream_events(*target, true);
      case WebEndpoint::check:
        stream_.expires_never();  // it reads a whole log
        return std::make_shared<PolicyExchange>(site_.link, site_.capabilities, shared_from_this())
            ->start(request().body());
      case WebEndpoint::workers:
        stream_.expires_never();  // a batch of workers takes its time; the links have deadlines
        return std::make_shared<WorkersExchange>(site_.context, site_.spawner, shared_from_this())
            ->start(route.action, route.name, request().body());
      case WebEndpoint::a2a:
        return serve_a2a(route, *target, given.hosts.front());
      case WebEndpoint::hosts:
        return answer(
            200, json_type,
            site_.feed.history().hosts_json(target->value("agent"), target->value("host")));
      case WebEndpoint::control:
        return ask_daemon(route, method);
    }
  }

  void serve_a2a(const Route& route, const Target& target, const std::string& host) {
    if (site_.backend == nullptr) {
      return answer_error(404, "no-spawner", "stile-web was started without a spawner");
    }
    A2aRequest made;
    made.worker = route.name;
    path_ = route.rest;
    const bool is_head = request().method() == http::verb::head;
    made.http = {is_head ? "GET" : std::string_view{request().method_string()}, path_,
                 request().body(), target.query, header("A2A-Version")};
    made.authorization = header("Authorization");
    made.last_event = header("Last-Event-ID");
    made.known_tag = header("If-None-Match");
    made.url = url_of_host(site_.origins, host) + "/agents/" + route.name;
    stream_.expires_never();  // the link has its own deadline
    std::make_shared<A2aExchange>(*site_.backend, shared_from_this(), std::move(made))->start();
  }

  void log_in(BrowserSessions::Time now) {
    const auto token = text_member(request().body(), "token");
    if (!token) return answer_error(400, "bad-request", token.error().message);
    const auto keys = site_.sessions.log_in(*token, now);
    if (!keys) {
      return answer_error(401, "bad-token",
                          "this link was used or has expired; `stile web` prints a new one");
    }
    const bool is_secure = header("Origin").starts_with("https:");
    set_cookie_ = std::string{cookie_name} + '=' + keys->cookie +
                  "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                  std::to_string(std::chrono::seconds{BrowserSessions::session_life}.count()) +
                  (is_secure ? "; Secure" : "");
    std::string body;
    JsonObject{body}.add("ok", true).add("csrf", keys->csrf);
    answer(200, json_type, std::move(body));
  }

  void ask_daemon(const Route& route, WebMethod method) {
    const auto line = control_line(route, method == WebMethod::post ? request().body() : "");
    if (!line) return answer_error(400, "bad-request", line.error().message);
    stream_.expires_never();  // the link has its own deadline
    site_.link.ask(*line, [self = shared_from_this(),
                           changes = method == WebMethod::post](std::optional<std::string> answer) {
      if (!answer) {
        return self->answer_error(502, "no-daemon", "the daemon does not answer; is it running?");
      }
      if (changes) self->site_.feed.refresh();
      self->answer(200, json_type, std::move(*answer));
    });
  }

  void stream_events(const Target& target, bool is_about_workers) {
    if (site_.feed.is_full()) {
      return answer_error(503, "too-many-pages", "too many pages are open; close one");
    }
    PageView view;
    view.is_about_workers = is_about_workers;
    view.filter.agent = target.value("agent");
    view.filter.verdict = target.value("verdict");
    view.filter.host = lower_case(target.value("host"));
    view.filter.host_is_whole = target.value("whole") == "1";
    view.agent = target.value("show_agent");
    view.host = target.value("show_host");
    begin_stream(
        [self = shared_from_this(), view = std::move(view)] { self->site_.feed.add(self, view); });
  }

  void answer_error(unsigned status, std::string_view code, std::string_view message) {
    answer(error_answer(status, code, message));
  }

  void answer(unsigned status, std::string_view type, std::string body) {
    ++watch_;
    response_ = {http::int_to_status(status), request().version()};
    add_headers(response_);
    response_.set(http::field::content_type, type);
    for (const auto& [name, value] : std::exchange(more_headers_, {})) response_.set(name, value);
    if (!set_cookie_.empty())
      response_.set(http::field::set_cookie, std::exchange(set_cookie_, {}));
    response_.keep_alive(request().keep_alive() && !must_close_);
    response_.body() = std::move(body);
    response_.prepare_payload();
    if (request().method() == http::verb::head) response_.body().clear();
    stream_.expires_after(time_limit);
    wait();
    frames_ = http_text(response_);
    asio::async_write(stream_, asio::buffer(frames_),
                      [self = shared_from_this()](beast::error_code ec, std::size_t) {
                        self->site_.waiting.remove(self.get());
                        if (ec) return self->close();
                        if (self->must_close_) return self->drain();
                        if (!self->response_.keep_alive()) return self->close();
                        self->read();
                      });
  }

  beast::basic_stream<Protocol> stream_;
  Site& site_;
  beast::flat_buffer buffer_{max_head_bytes + max_body_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::string set_cookie_, frames_, path_;
  std::vector<std::pair<std::string_view, std::string>> more_headers_;
  std::uint64_t watch_ = 0;  // counts waits for the end, so that an old one ends nothing
  bool is_writing_ = false, must_close_ = false, has_gone_ = false;
  bool is_known_ = false;              // has proved a session
  std::shared_ptr<std::size_t> open_;  // outlives the site at the end of the program
};

}  // namespace

HttpServer::HttpServer(Acceptor acceptor, Site& site)
    : connections_{std::move(acceptor), [&site](Protocol::socket socket) {
                     // A connection that gives way ends before the next one is taken.
                     if (*site.open == max_connections && !site.waiting.close_one()) return;
                     std::make_shared<Connection>(std::move(socket), site)->read();
                   }} {}

}  // namespace stile::web
