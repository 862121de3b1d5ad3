// A2aExchange: the token first, then the request, then one call of the spawner after the other.
#include "web/a2a_exchange.h"

#include <charconv>
#include <utility>

#include "a2a/text.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/sha256.h"
#include "web/control_request.h"

namespace stile::web {
namespace {

using namespace std::chrono_literals;
using a2a::Dialect, a2a::Fault, a2a::Operation, a2a::Problem;

constexpr std::size_t max_token_bytes = 256;
constexpr std::size_t max_spawner_request = 64U << 10U;
constexpr std::size_t room_for_token = sizeof R"(,"token":"")";
constexpr auto longest_send = 30min;  // then the task is reported as working
constexpr auto longest_cancel = 8s;   // SIGKILL follows SIGTERM after five seconds

constexpr std::string_view rpc_type = "application/json";
constexpr std::string_view rest_type = "application/a2a+json";

std::string_view bearer(std::string_view header) {
  constexpr std::string_view scheme = "bearer ";
  if (header.size() <= scheme.size() ||
      !equal_ignoring_case(header.substr(0, scheme.size()), scheme)) {
    return {};
  }
  const auto token = header.substr(scheme.size());
  // The characters of RFC 6750, section 2.1.
  const bool is_token = has_only(token, "-._~+/=") && token.size() <= max_token_bytes;
  return is_token ? token : std::string_view{};
}

}  // namespace

A2aExchange::~A2aExchange() {
  if (has_place_) --*backend_.waiting;
}

void A2aExchange::start() {
  const auto form = a2a::card_at(request_.http.path);
  if (form != a2a::CardForm::none && request_.http.method == "GET") return send_card(form);
  authorise();
}

// A card is for everybody, and says only that the worker exists.
void A2aExchange::send_card(a2a::CardForm form) {
  backend_.spawner.ask(R"({"action":"list"})", [self = shared_from_this(),
                                                form](const std::optional<std::string>& answer) {
    if (!answer) return self->fail({Problem::unavailable, "The spawner does not answer"});
    const auto entry = R"({"task_id":)" + json_text(self->request_.worker) + ',';
    if (answer->find(entry) == std::string::npos) {
      return self->fail({Problem::method_not_found, "There is no worker of this name"});
    }
    auto card = a2a::card_text(self->request_.worker, self->request_.url, form);
    const auto hash = Sha256{}.hash(card);
    const auto tag = '"' + std::string{hash_text(hash).substr(0, 16)} + '"';
    const bool is_known = self->request_.known_tag == tag;
    self->client_->answer({is_known ? 304U : 200U,
                           rpc_type,
                           is_known ? "" : std::move(card),
                           {{"ETag", tag}, {"Cache-Control", "max-age=60"}}});
  });
}

void A2aExchange::authorise() {
  const auto token = bearer(request_.authorization);
  const Fault refused{Problem::unauthenticated,
                      "The token of this worker is needed: Authorization: Bearer TOKEN"};
  read_.is_rpc = request_.http.path == a2a::rpc_path;
  if (token.empty()) return fail(refused);
  token_ = token;
  std::string line;
  JsonObject{line}
      .add("action", "validate_token")
      .add("task_id", request_.worker)
      .add("token", token);
  backend_.spawner.ask(
      line, [self = shared_from_this(), refused](const std::optional<std::string>& answer) {
        if (!answer) return self->fail({Problem::unavailable, "The spawner does not answer"});
        if (*answer != R"({"valid":true})") return self->fail(refused);
        self->serve();
      });
}

void A2aExchange::serve() {
  read_ = a2a::read_request(request_.http);
  if (!read_.call) return fail(read_.call.error());
  call_ = std::move(*read_.call);
  const auto self = shared_from_this();
  switch (call_.operation) {
    case Operation::send:
    case Operation::send_stream:
      return load_worker([self] { self->send(); });
    case Operation::get:
      return load_worker([self] {
        if (self->find_task()) self->read_output(Goal::now);
      });
    case Operation::list:
      return load_worker([self] {
        std::vector<a2a::Task> all;
        for (const auto& run : self->worker_.runs) all.push_back(self->task_of(run));
        self->page_ = a2a::select(std::move(all), self->call_.filter);
        self->list(0);
      });
    case Operation::cancel:
      return load_worker([self] { self->cancel(); });
    case Operation::subscribe:
      return load_worker([self] { self->subscribe(); });
    case Operation::follow_latest:
      return load_worker([self] { self->follow_latest(); });
    case Operation::files:
    case Operation::read_file:
      break;
  }
  std::string line;
  {
    JsonObject object{line};
    const bool is_list = call_.operation == Operation::files;
    object.add("action", is_list ? "files" : "read_file").add("task_id", request_.worker);
    if (!call_.path.empty()) object.add("path", call_.path);
    if (!is_list) object.add("offset", call_.offset);
  }
  pass_on(std::move(line));
}

void A2aExchange::ask(std::string line, Problem problem, Then then) {
  line.pop_back();
  line += R"(,"token":)" + json_text(token_) + '}';
  backend_.spawner.ask(std::move(line),
                       [self = shared_from_this(), problem,
                        then = std::move(then)](const std::optional<std::string>& answer) {
                         if (self->client_->has_gone()) return self->client_->end();
                         if (!answer)
                           return self->fail({Problem::unavailable, "The spawner does not answer"});
                         if (const auto error = a2a::error_of(*answer))
                           return self->fail({problem, *error});
                         then(*answer);
                       });
}

void A2aExchange::load_worker(std::function<void()> then) {
  ask(worker_line("status", request_.worker), Problem::unavailable,
      [self = shared_from_this(), then = std::move(then)](const std::string& answer) {
        auto worker = a2a::parse_worker(answer);
        if (!worker) return self->fail({Problem::unavailable, "The worker does not answer"});
        self->worker_ = std::move(*worker);
        then();
      });
}

bool A2aExchange::find_task() {
  const auto number = a2a::run_of(worker_, call_.task);
  if (!number || worker_.find(*number) == nullptr) {
    fail({Problem::task_not_found, "There is no task of this id"});
    return false;
  }
  run_ = *number;
  return true;
}

void A2aExchange::send() {
  // One worker is one context: all of its tasks share its files.
  if (!call_.context.empty() && call_.context != worker_.id) {
    return fail(
        {Problem::invalid_params, "message.contextId: this agent has one context, " + worker_.id});
  }
  if (!call_.task.empty()) {
    if (!find_task()) return;
    const bool is_running = worker_.find(run_)->status == "running";
    return fail({Problem::unsupported_operation,
                 is_running
                     ? "A running task takes no further message; cancel it or wait for its end"
                     : "The task has ended; send a message without taskId for a new one"});
  }
  if (call_.operation == Operation::send_stream || !call_.is_immediate) {
    if (!take_place()) return;
  }
  run();
}

void A2aExchange::run() {
  std::string line;
  JsonObject{line}.add("action", "run").add("task_id", request_.worker).add("message", call_.text);
  if (line.size() + token_.size() + room_for_token > max_spawner_request) {
    return fail({Problem::invalid_params, "message.parts: the text is too long"});
  }
  ask(std::move(line), Problem::unsupported_operation,
      [self = shared_from_this()](const std::string& answer) {
        const auto started = a2a::parse_piece(answer);
        if (!started) return self->fail({Problem::internal, "The spawner gave an unknown answer"});
        self->run_ = started->run.number;
        if (self->call_.operation == Operation::send_stream) {
          self->worker_.runs.push_back(started->run);
          return self->begin_stream();
        }
        if (self->call_.is_immediate) return self->finish(self->task_of(started->run));
        self->client_->watch();
        self->deadline_ = Clock::now() + longest_send;
        self->read_output(Goal::until_interrupted);
      });
}

// The first piece of the output of each task of the page, one after the other.
void A2aExchange::list(std::size_t next) {
  if (!call_.filter.has_output || next == page_.tasks.size()) {
    return reply(a2a::page_text(page_, call_.filter));
  }
  std::string line;
  JsonObject{line}
      .add("action", "output")
      .add("task_id", request_.worker)
      .add("run", a2a::run_of(worker_, page_.tasks[next].id).value_or(0));
  ask(std::move(line), Problem::unavailable,
      [self = shared_from_this(), next](const std::string& answer) {
        if (auto piece = a2a::parse_piece(answer)) {
          self->page_.tasks[next].output =
              a2a::TaskOutput{std::move(piece->text), piece->missed, std::move(piece->files),
                              piece->has_more_files};
        }
        self->list(next + 1);
      });
}

void A2aExchange::cancel() {
  if (!find_task()) return;
  if (worker_.find(run_)->status != "running") {
    return fail({Problem::task_not_cancelable, "The task has ended"});
  }
  std::string line;
  JsonObject{line}.add("action", "cancel").add("task_id", request_.worker).add("run", run_);
  ask(std::move(line), Problem::task_not_cancelable,
      [self = shared_from_this()](const std::string&) {
        self->deadline_ = Clock::now() + longest_cancel;
        self->read_output(Goal::until_end);
      });
}

void A2aExchange::subscribe() {
  if (!find_task()) return;
  if (worker_.find(run_)->status != "running") {
    return fail({Problem::unsupported_operation, "The task has ended; get it instead"});
  }
  if (!take_place()) return;
  // A stream that was cut goes on behind the last event that the caller has.
  const auto& last = request_.last_event;
  const auto* end = last.data() + last.size();
  const auto [stop, problem] = std::from_chars(last.data(), end, cursor_);
  if (last.empty() || problem != std::errc{} || stop != end) {
    cursor_ = 0;
    return read_output(Goal::now);  // the task with its output so far is the first event
  }
  has_sent_output_ = true;
  begin_stream();
}

void A2aExchange::follow_latest() {
  if (worker_.runs.empty()) return fail({Problem::task_not_found, "There is no task yet"});
  if (!take_place()) return;
  run_ = worker_.runs.back().number;
  begin_stream();
}

void A2aExchange::pass_on(std::string line) {
  ask(std::move(line), Problem::invalid_params,
      [self = shared_from_this()](const std::string& answer) { self->reply(answer); });
}

bool A2aExchange::take_place() {
  if (*backend_.waiting == A2aBackend::max_waiting) {
    fail({Problem::unavailable, "Too many callers wait for tasks; try again later"});
    return false;
  }
  ++*backend_.waiting;
  has_place_ = true;
  return true;
}

a2a::Task A2aExchange::task_of(const a2a::RunStatus& run) const {
  return a2a::task_of(worker_, run, backend_.ask_of(worker_.id));
}

void A2aExchange::finish(const a2a::Task& task) {
  const bool is_send = call_.operation == Operation::send;
  if (call_.dialect == Dialect::plain && !is_send) return reply(R"({"cancelled":true})");
  reply(is_send ? a2a::sent_text(task, call_.dialect) : a2a::task_text(task, call_.dialect));
}

void A2aExchange::reply(const std::string& result) {
  client_->answer({200, read_.is_rpc || call_.dialect == Dialect::plain ? rpc_type : rest_type,
                   read_.is_rpc ? a2a::rpc_result(result, read_.id) : result});
}

void A2aExchange::fail(const Fault& fault) {
  if (is_streaming_) return client_->end();
  const auto known = a2a::codes(fault.problem);
  const bool is_refused = fault.problem == Problem::unauthenticated;
  HttpAnswer answer{known.http, rest_type, {}};
  if (is_refused) answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"stile\"");
  if (read_.is_rpc) {
    // JSON-RPC has its own codes; the status of HTTP is about the connection and the caller.
    const bool is_about_http = is_refused || fault.problem == Problem::unavailable;
    if (!is_about_http) answer.status = 200;
    answer.type = rpc_type;
    answer.body = a2a::rpc_error(fault, read_.id);
  } else {
    answer.body = a2a::rest_error(fault);
  }
  client_->answer(std::move(answer));
}

}  // namespace stile::web
