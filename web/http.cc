// serve_pages: gate, route and control_request decide what a connection answers.
#include "web/http.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
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

namespace http = boost::beast::http;

// A body is at most as large as a request to the control socket.
constexpr HttpLimits limits{128, 64 * 1024, std::chrono::seconds{10}};
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

HttpResponse response_with(unsigned status, std::string_view type) {
  HttpResponse fields{http::int_to_status(status), 11};
  fields.set(http::field::content_type, type);
  fields.set("Content-Security-Policy", content_policy);
  fields.set("X-Frame-Options", "DENY");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Opener-Policy", "same-origin");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
  fields.set(http::field::cache_control, "no-store");
  return fields;
}

// A stream of events is a page of the feed.
class Connection final : public HttpConnection, public OpenPage, public WebClient {
 public:
  Connection(HttpSocket socket, HttpClientsPtr clients, Site& site)
      : HttpConnection{std::move(socket), std::move(clients)}, site_{site} {}

  [[nodiscard]] bool is_ready() const override { return !is_writing_; }
  void send(std::string frames) override {
    is_writing_ = true;
    write_text(std::move(frames), [this] { is_writing_ = false; });
  }

  void answer(HttpAnswer said) override {
    ++watch_;
    auto response = response_with(said.status, said.type);
    for (const auto& [name, value] : said.headers) response.set(name, value);
    response.body() = std::move(said.body);
    respond(std::move(response));
  }

  void begin_stream(Written written) override {
    auto head = response_with(200, "text/event-stream");
    head.version(request().version());
    head.set(http::field::connection, "close");  // the stream has no length
    is_writing_ = true;
    write_text(http_text(head), [this, written = std::move(written)] {
      is_writing_ = false;
      watch();
      written();
    });
  }

  void write(std::string frames, Written written) override {
    write_text(std::move(frames), std::move(written));
  }

  void end() override { close(); }

  // A client sends nothing before it has its answer.
  void watch() override {
    socket().async_wait(HttpSocket::wait_read,
                        [self = self(), number = ++watch_](const boost::system::error_code&) {
                          if (number == self->watch_) self->close();
                        });
  }

  [[nodiscard]] bool has_gone() const override { return is_closed(); }

 private:
  std::shared_ptr<Connection> self() {
    return std::static_pointer_cast<Connection>(shared_from_this());
  }

  void refuse(unsigned status, std::string_view message) override {
    answer_error(status, status == 400 ? "bad-request" : "too-large", message);
  }

  // "": it is missing.
  [[nodiscard]] std::string text_of(std::string_view name) const {
    return header(name).value_or("");
  }

  [[nodiscard]] WebCredentials credentials() const {
    WebCredentials given;
    given.hosts = hosts();
    given.origin = header("Origin");
    given.fetch_site = text_of("Sec-Fetch-Site");
    given.content_type = text_of("Content-Type");
    given.cookie = cookie_value(text_of("Cookie"), cookie_name);
    given.csrf = text_of("X-Stile-CSRF");
    return given;
  }

  void serve() override {
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
    if (needs_session(route.endpoint)) set_known();
    switch (route.endpoint) {
      case WebEndpoint::none:
        return answer_error(404, "not-found", "there is nothing at this path");
      case WebEndpoint::other_method:
        return answer_error(405, "wrong-method", "the path has no such method");
      case WebEndpoint::asset: {
        const Asset& asset = *find_asset(target->path);
        return answer({200, asset.type, std::string{asset.text}});
      }
      case WebEndpoint::login:
        return log_in(now);
      case WebEndpoint::logout:
        site_.sessions.log_out(given.cookie);
        return answer({200, json_type, R"({"ok":true})"});
      case WebEndpoint::events:
        return stream_events(*target, false);
      case WebEndpoint::worker_events:
        return stream_events(*target, true);
      case WebEndpoint::check:
        return std::make_shared<PolicyExchange>(site_.link, site_.capabilities, self())
            ->start(request().body());
      case WebEndpoint::workers:
        return std::make_shared<WorkersExchange>(site_.context, site_.spawner, self())
            ->start(route.action, route.name, request().body());
      case WebEndpoint::a2a:
        return serve_a2a(route, *target, given.hosts.front());
      case WebEndpoint::hosts:
        return answer(
            {200, json_type,
             site_.feed.history().hosts_json(target->value("agent"), target->value("host"))});
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
                 request().body(), target.query, text_of("A2A-Version")};
    made.authorization = text_of("Authorization");
    made.last_event = text_of("Last-Event-ID");
    made.known_tag = text_of("If-None-Match");
    made.url = url_of_host(site_.origins, host) + "/agents/" + route.name;
    std::make_shared<A2aExchange>(*site_.backend, self(), std::move(made))->start();
  }

  void log_in(BrowserSessions::Time now) {
    const auto token = text_member(request().body(), "token");
    if (!token) return answer_error(400, "bad-request", token.error().message);
    const auto keys = site_.sessions.log_in(*token, now);
    if (!keys) {
      return answer_error(401, "bad-token",
                          "this link was used or has expired; `stile web` prints a new one");
    }
    const bool is_secure = text_of("Origin").starts_with("https:");
    HttpAnswer said{200, json_type, {}};
    JsonObject{said.body}.add("ok", true).add("csrf", keys->csrf);
    said.headers = {
        {"Set-Cookie",
         std::string{cookie_name} + '=' + keys->cookie +
             "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
             std::to_string(std::chrono::seconds{BrowserSessions::session_life}.count()) +
             (is_secure ? "; Secure" : "")}};
    answer(std::move(said));
  }

  void ask_daemon(const Route& route, WebMethod method) {
    const auto line = control_line(route, method == WebMethod::post ? request().body() : "");
    if (!line) return answer_error(400, "bad-request", line.error().message);
    site_.link.ask(*line, [self = self(),
                           changes = method == WebMethod::post](std::optional<std::string> answer) {
      if (!answer) {
        return self->answer_error(502, "no-daemon", "the daemon does not answer; is it running?");
      }
      if (changes) self->site_.feed.refresh();
      self->answer({200, json_type, std::move(*answer)});
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
    begin_stream([this, view = std::move(view)] { site_.feed.add(self(), view); });
  }

  void answer_error(unsigned status, std::string_view code, std::string_view message) {
    answer(error_answer(status, code, message));
  }

  Site& site_;
  std::string path_;         // an exchange refers to it
  std::uint64_t watch_ = 0;  // counts waits for the end, so that an old one ends nothing
  bool is_writing_ = false;
};

}  // namespace

std::unique_ptr<HttpServer> serve_pages(HttpServer::Acceptor acceptor, Site& site) {
  return std::make_unique<HttpServer>(
      std::move(acceptor), limits, [&site](HttpSocket socket, HttpClientsPtr clients) {
        return std::make_shared<Connection>(std::move(socket), std::move(clients), site);
      });
}

}  // namespace stile::web
