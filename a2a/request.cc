// Request: routes of HTTP+JSON and methods of JSON-RPC.
#include "a2a/request.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "a2a/params.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"

namespace stile::a2a {
namespace {

using config::Node;

// What a method or a route asks for; some only have an answer that refuses.
struct Wish {
  Operation operation = Operation::get;
  Dialect dialect = Dialect::v1;
  std::optional<Problem> refused{};
};

struct Named {
  std::string_view name;
  Wish wish;
};
constexpr std::array<Named, 20> methods{{
    {"SendMessage", {Operation::send}},
    {"SendStreamingMessage", {Operation::send_stream}},
    {"GetTask", {Operation::get}},
    {"ListTasks", {Operation::list}},
    {"CancelTask", {Operation::cancel}},
    {"SubscribeToTask", {Operation::subscribe}},
    {"CreateTaskPushNotificationConfig", {{}, Dialect::v1, Problem::push_not_supported}},
    {"GetTaskPushNotificationConfig", {{}, Dialect::v1, Problem::push_not_supported}},
    {"ListTaskPushNotificationConfigs", {{}, Dialect::v1, Problem::push_not_supported}},
    {"DeleteTaskPushNotificationConfig", {{}, Dialect::v1, Problem::push_not_supported}},
    {"GetExtendedAgentCard", {{}, Dialect::v1, Problem::unsupported_operation}},
    {"message/send", {Operation::send, Dialect::v03}},
    {"message/stream", {Operation::send_stream, Dialect::v03}},
    {"tasks/get", {Operation::get, Dialect::v03}},
    {"tasks/cancel", {Operation::cancel, Dialect::v03}},
    {"tasks/resubscribe", {Operation::subscribe, Dialect::v03}},
    {"tasks/pushNotificationConfig/set", {{}, Dialect::v03, Problem::push_not_supported}},
    {"tasks/pushNotificationConfig/get", {{}, Dialect::v03, Problem::push_not_supported}},
    {"tasks/pushNotificationConfig/list", {{}, Dialect::v03, Problem::push_not_supported}},
    {"tasks/pushNotificationConfig/delete", {{}, Dialect::v03, Problem::push_not_supported}},
}};
constexpr std::string_view old_extended_card = "agent/getAuthenticatedExtendedCard";

struct Route {
  std::string_view method, before, after;  // the id of a task is between them
  Wish wish;
};
constexpr std::string_view get = "GET", post = "POST";
constexpr std::array<Route, 17> routes{{
    {post, "/message:send", "", {Operation::send}},
    {post, "/message:stream", "", {Operation::send_stream}},
    {get, "/tasks", "", {Operation::list}},
    {get, "/extendedAgentCard", "", {{}, Dialect::v1, Problem::unsupported_operation}},
    {post, "/tasks/send", "", {Operation::send_stream, Dialect::plain}},
    {get, "/stream", "", {Operation::follow_latest, Dialect::plain}},
    {get, "/files", "", {Operation::files, Dialect::plain}},
    {get, "/files/content", "", {Operation::read_file, Dialect::plain}},
    {get, "/tasks/", "", {Operation::get}},
    {post, "/tasks/", ":cancel", {Operation::cancel}},
    {post, "/tasks/", ":subscribe", {Operation::subscribe}},
    {get, "/tasks/", ":subscribe", {Operation::subscribe}},
    {post, "/tasks/", "/cancel", {Operation::cancel, Dialect::plain}},
    {post, "/tasks/", "/messages", {Operation::send, Dialect::plain}},
    {post, "/tasks/", "/pushNotificationConfigs", {{}, Dialect::v1, Problem::push_not_supported}},
    {get, "/tasks/", "/pushNotificationConfigs", {{}, Dialect::v1, Problem::push_not_supported}},
    {"", "/tasks/", "/pushNotificationConfigs/", {{}, Dialect::v1, Problem::push_not_supported}},
}};

// The id of the task in a path; "" for a route without one; nullopt: the route is another.
std::optional<std::string_view> match(const Route& route, std::string_view path) {
  if (!path.starts_with(route.before)) return std::nullopt;
  auto rest = path.substr(route.before.size());
  if (!route.before.ends_with('/')) {
    return rest.empty() ? std::optional{std::string_view{}} : std::nullopt;
  }
  // One route ends with the id of a config, which is of no interest.
  const auto end = route.after.ends_with('/') ? rest.find(route.after) : std::string_view::npos;
  if (end != std::string_view::npos) rest = rest.substr(0, end + route.after.size());
  if (!rest.ends_with(route.after)) return std::nullopt;
  rest.remove_suffix(route.after.size());
  return is_task_id(rest) ? std::optional{rest} : std::nullopt;
}

// "1.0" and "1.0.1" are the same version; the patch number does not count.
enum class Version : std::uint8_t { v03, v1, other };
Version version_of(std::string_view text) {
  const auto is = [&](std::string_view wanted) {
    return text == wanted ||
           (text.starts_with(wanted) && text[wanted.size()] == '.' &&
            text.size() > wanted.size() + 1 &&
            std::all_of(text.begin() + static_cast<std::ptrdiff_t>(wanted.size()) + 1, text.end(),
                        is_digit));
  };
  if (text.empty() || is("0.3")) return Version::v03;
  return is("1.0") ? Version::v1 : Version::other;
}

Fault wrong_version(std::string_view given) {
  return {Problem::version_not_supported,
          "A2A-Version " + in_quotes(given.empty() ? "0.3" : given) +
              " is not supported here; 1.0 is, and 0.3 with its own methods over JSON-RPC"};
}

Outcome<Call> read_wish(const Wish& wish, const Node& params, std::string task) {
  if (wish.refused) return refusal_of(*wish.refused);
  Call call;
  call.operation = wish.operation;
  call.dialect = wish.dialect;
  call.task = std::move(task);
  return read_call(std::move(call), params);
}

// Numbers and truth values of a query become those of JSON.
Node node_of_query(const std::map<std::string, std::string>& query) {
  Node::Table table;
  for (const auto& [key, text] : query) {
    Node value{text, {}};
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    const bool is_number_key = key == "pageSize" || key == "historyLength" || key == "offset";
    if (is_number_key) {
      const auto [stop, problem] = std::from_chars(text.data(), end, number);
      if (problem == std::errc{} && stop == end) value = Node{number, {}};
    } else if (key == "includeArtifacts" && (text == "true" || text == "false")) {
      value = Node{text == "true", {}};
    }
    table.push_back({key, {}, std::move(value)});
  }
  return {std::move(table), {}};
}

Outcome<Node> parse_object(std::string_view body) {
  auto parsed = config::parse_json(body, "");
  if (!parsed) return Fault{Problem::not_json, "The body is not JSON that this server reads"};
  if (parsed->as<Node::Table>() == nullptr) {
    return Fault{Problem::invalid_request, "The body is not a JSON object"};
  }
  return std::move(*parsed);
}

Outcome<Call> read_method(const Node& request, std::string_view version) {
  if (request.text("jsonrpc") != "2.0") {
    return Fault{Problem::invalid_request, "jsonrpc: expected \"2.0\""};
  }
  const auto name = request.text("method");
  const auto given = version_of(version);
  if (given == Version::other) return wrong_version(version);
  const auto* const found = std::find_if(methods.begin(), methods.end(),
                                         [&](const Named& one) { return one.name == name; });
  if (name == old_extended_card && given == Version::v03) {
    return refusal_of(Problem::no_extended_card);
  }
  if (found == methods.end()) {
    return Fault{Problem::method_not_found, "There is no method " + in_quotes(name)};
  }
  if ((found->wish.dialect == Dialect::v1) != (given == Version::v1)) {
    if (given == Version::v1) {
      return Fault{Problem::method_not_found, "A2A 1.0 has no method " + in_quotes(name)};
    }
    return wrong_version(version);
  }
  const auto* params = request.given("params");
  static const Node none{Node::Table{}, {}};
  if (params != nullptr && params->as<Node::Table>() == nullptr) {
    return Fault{Problem::invalid_params, "params: expected an object"};
  }
  return read_wish(found->wish, params == nullptr ? none : *params, {});
}

// A JSON-RPC id: text, a number or null.
std::string id_text(const Node& request) {
  const auto* id = request.given("id");
  if (id == nullptr) return "null";
  if (const auto* number = id->as<std::int64_t>()) return std::to_string(*number);
  if (const auto* text = id->as<std::string>()) return json_text(*text);
  return "null";
}

Outcome<Call> read_route(const HttpRequest& request) {
  bool is_known = false;
  for (const auto& route : routes) {
    const auto task = match(route, request.path);
    if (!task) continue;
    is_known = true;
    if (!route.method.empty() && route.method != request.method) continue;
    if (route.wish.dialect == Dialect::v1) {
      const auto named = request.query.find("A2A-Version");
      const auto& version = !request.version.empty() || named == request.query.end()
                                ? request.version
                                : named->second;
      if (version_of(version) != Version::v1) return wrong_version(version);
    }
    if (request.method == get || request.body.empty()) {
      return read_wish(route.wish, node_of_query(request.query), std::string{*task});
    }
    const auto body = parse_object(request.body);
    if (!body) return body.error();
    return read_wish(route.wish, *body, std::string{*task});
  }
  return Fault{Problem::method_not_found,
               is_known ? "The path has no such method" : "There is nothing at this path"};
}

}  // namespace

Read read_request(const HttpRequest& request) {
  Read read;
  if (request.method != post || request.path != rpc_path) {
    read.call = read_route(request);
    return read;
  }
  read.is_rpc = true;
  const auto body = parse_object(request.body);
  if (!body) {
    read.call = body.error();
    return read;
  }
  read.id = id_text(*body);
  read.call = read_method(*body, request.version);
  return read;
}

CardForm card_at(std::string_view path) noexcept {
  if (path == "/.well-known/agent-card.json") return CardForm::v1;
  return path == "/.well-known/agent.json" ? CardForm::v03 : CardForm::none;
}

}  // namespace stile::a2a
