// Captain: one function per tool.
#include "mcp/captain.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/quoted.h"
#include "base/random.h"
#include "base/utf8.h"
#include "mcp/captain_tools.h"
#include "mcp/containment.h"

namespace stile::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* usual_workspace = "/mnt/agents";
constexpr std::size_t max_progress_message = 200;
constexpr std::size_t max_reason_bytes = 256;
constexpr std::chrono::milliseconds between_reports{250};
constexpr std::chrono::seconds between_looks{1};

std::string worker_of(const ToolCall& call) { return text_of(call.arguments, "worker"); }

// Copies members that are there, under other names.
struct Renamed {
  const char* from;
  const char* to;
};
template <std::size_t Count>
Json picked(const Json& from, const std::array<Renamed, Count>& names) {
  Json to = Json::object();
  for (const auto& name : names) {
    if (has(from, name.from)) to.set(name.to, *from.find(name.from));
  }
  return to;
}

constexpr std::array<Renamed, 10> worker_names{{{"task_id", "worker"},
                                                {"status", "status"},
                                                {"template", "template"},
                                                {"tags", "tags"},
                                                {"workspace", "workspace"},
                                                {"started_at", "started_at"},
                                                {"expires_at", "expires_at"},
                                                {"memory_bytes", "memory_bytes"},
                                                {"processes", "processes"},
                                                {"cpu_nanoseconds", "cpu_nanoseconds"}}};
constexpr std::array<Renamed, 5> run_names{{{"run", "task"},
                                            {"status", "status"},
                                            {"exit_status", "exit_status"},
                                            {"started_at", "started_at"},
                                            {"ended_at", "ended_at"}}};

constexpr std::array<Renamed, 4> file_names{{{"name", "name"},
                                             {"size", "size"},
                                             {"is_dir", "is_directory"},
                                             {"modified_at", "modified_at"}}};

template <std::size_t Count>
Json list_with(const Json& items, const std::array<Renamed, Count>& names) {
  Json list = Json::list();
  for (const Json& item : items) list.add(picked(item, names));
  return list;
}

Json with_worker(const ToolCall& call, const Json& rest) {
  Json result{{"worker", worker_of(call)}};
  for (const auto& [key, value] : rest.members()) result.set(key, value);
  return result;
}

// The daemon takes a line of text.
std::string one_line(std::string text) {
  text.resize(whole_utf8(std::string_view{text}.substr(0, max_reason_bytes)));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return text;
}

// The last line that has something in it, for people who watch.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const auto start = text.rfind('\n');
  if (start != std::string_view::npos) text.remove_prefix(start + 1);
  return printable(text.substr(0, max_progress_message));
}

// Keeps the end of the text, from the start of a character; returns how much was cut.
std::size_t keep_end(std::string& text, std::size_t most) {
  if (text.size() <= most) return 0;
  std::size_t cut = text.size() - most;
  while (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) ++cut;
  text.erase(0, cut);
  return cut;
}

// What the worker may do now, by the daemon.
Json explain_request(const ToolCall& call) {
  Json request{
      {"action", "explain"}, {"agent", worker_of(call)}, {"url", text_of(call.arguments, "url")}};
  if (has(call.arguments, "method")) request.set("method", text_of(call.arguments, "method"));
  return request;
}

bool can_ask_the_user(const ToolCall& call) {
  return call.era == Era::stateless && has(call.client_capabilities, "elicitation");
}

// A person decides by the reason, so the user of the client is asked for one.
InputRequired reason_wanted(const ToolCall& call) {
  const Json schema{
      {"type", "object"},
      {"properties", Json{{"reason", Json{{"type", "string"},
                                          {"title", "Reason"},
                                          {"description", "The person who decides reads this"},
                                          {"maxLength", 256}}}}}};
  const Json params{{"mode", "form"},
                    {"message", "Why does worker " + worker_of(call) + " need " +
                                    printable(text_of(call.arguments, "url")) + "?"},
                    {"requestedSchema", schema}};
  return {Json{{"reason", Json{{"method", "elicitation/create"}, {"params", params}}}}, ""};
}

}  // namespace

Captain::Captain(Services services) : services_{std::move(services)}, tools_{captain_tools()} {}

Captain::Handler Captain::handler_of(std::string_view tool) {
  struct Row {
    std::string_view name;
    Handler handler;
  };
  static constexpr std::array<Row, 12> rows{{
      {"spawn_worker", &Captain::spawn_worker},
      {"list_workers", &Captain::list_workers},
      {"get_worker_status", &Captain::get_worker_status},
      {"terminate_worker", &Captain::terminate_worker},
      {"send_task", &Captain::send_task},
      {"read_output", &Captain::read_output},
      {"cancel_task", &Captain::cancel_task},
      {"list_files", &Captain::list_files},
      {"read_file", &Captain::read_file},
      {"explain_access", &Captain::explain_access},
      {"request_access", &Captain::request_access},
      {"containment_status", &Captain::containment_status},
  }};
  const auto* const row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.name == tool; });
  return row == rows.end() ? nullptr : row->handler;
}

ToolOutcome Captain::call(const ToolCall& call, CallContext& context) {
  const Handler handler = handler_of(call.tool);
  if (handler == nullptr) return RpcFault{RpcCode::internal_error, "the tool has no handler", {}};
  if (call.tool == "request_access" && !has(call.arguments, "reason") &&
      call.input_responses.find("reason") == nullptr && can_ask_the_user(call)) {
    return reason_wanted(call);
  }
  const auto outcome = (this->*handler)(call, context);
  if (!outcome) return plain_result(outcome.error().message, true);
  auto result = plain_result(outcome->json.dump());
  result.structured = outcome->json;
  return result;
}

Captain::Outcome Captain::spawn_worker(const ToolCall& call, CallContext& /*context*/) {
  const Json& wanted = call.arguments;
  constexpr std::size_t random_bytes = 3;
  const auto id = has(wanted, "worker") ? worker_of(call) : "worker-" + random_hex(random_bytes);
  Json request{{"action", "spawn"}, {"task_id", id}};
  request.set("workspace",
              has(wanted, "workspace") ? text_of(wanted, "workspace") : usual_workspace);
  for (const char* key : {"template", "tags"}) {
    if (has(wanted, key)) request.set(key, *wanted.find(key));
  }
  Json narrower = Json::object();
  for (const char* key : {"ttl_seconds", "allowed_hosts", "resource_limits", "read", "write"}) {
    if (has(wanted, key)) narrower.set(key, *wanted.find(key));
  }
  if (!narrower.members().empty()) request.set("card", narrower);
  const auto answer = services_.spawner(request);
  if (!answer) return answer;
  // Without auth_token: the captain needs none here, and a model would keep it in its context.
  return DaemonAnswer{picked(answer->json, worker_names)};
}

Captain::Outcome Captain::list_workers(const ToolCall& call, CallContext& /*context*/) {
  const auto answer = services_.spawner({{"action", "list"}});
  if (!answer) return answer;
  const auto tag = text_of(call.arguments, "tag");
  Json workers = Json::list();
  for (const Json& worker : list_of(answer->json, "workers")) {
    const auto& tags = list_of(worker, "tags");
    const auto is_tag = [&](const Json& one) { return one.text() == tag; };
    if (!tag.empty() && std::none_of(tags.begin(), tags.end(), is_tag)) continue;
    workers.add(picked(worker, worker_names));
  }
  return DaemonAnswer{Json{{"workers", std::move(workers)}}};
}

Captain::Outcome Captain::get_worker_status(const ToolCall& call, CallContext& /*context*/) {
  const auto answer = services_.spawner({{"action", "status"}, {"task_id", worker_of(call)}});
  if (!answer) return answer;
  Json result = picked(answer->json, worker_names);
  result.set("tasks", list_with(list_of(answer->json, "runs"), run_names));
  return DaemonAnswer{std::move(result)};
}

Captain::Outcome Captain::terminate_worker(const ToolCall& call, CallContext& /*context*/) {
  const auto answer = services_.spawner({{"action", "terminate"}, {"task_id", worker_of(call)}});
  if (!answer) return answer;
  return DaemonAnswer{picked(answer->json, worker_names)};
}

Captain::Outcome Captain::send_task(const ToolCall& call, CallContext& context) {
  const auto started = services_.spawner({{"action", "run"},
                                          {"task_id", worker_of(call)},
                                          {"message", text_of(call.arguments, "message") + '\n'}});
  if (!started) return started;
  Following task{worker_of(call), number_of(started->json, "run"), 0, usual_wait_seconds, true};
  if (has(call.arguments, "wait_seconds")) {
    task.wait_seconds = number_of(call.arguments, "wait_seconds");
  }
  auto outcome = follow(task, context);
  if (context.state() == CallContext::State::canceled) {
    const auto ignored =
        services_.spawner({{"action", "cancel"}, {"task_id", task.worker}, {"run", task.run}});
    static_cast<void>(ignored);  // it may have ended by itself
  }
  return outcome;
}

Captain::Outcome Captain::read_output(const ToolCall& call, CallContext& context) {
  Following task{worker_of(call),
                 {},
                 number_of(call.arguments, "cursor"),
                 number_of(call.arguments, "wait_seconds"),
                 false};
  if (const Json* number = call.arguments.find("task")) task.run = *number;
  return follow(task, context);
}

// Asks for output again and again, each time for a second at most: so a call that is not wanted any
// more ends soon.
Captain::Outcome Captain::follow(const Following& task, CallContext& context) {
  const auto start = Clock::now();
  const auto end = start + std::chrono::seconds{task.wait_seconds};
  auto reported = start - between_reports;
  Json request{{"action", "output"}, {"task_id", task.worker}, {"cursor", task.cursor}};
  if (!task.run.is_null()) request.set("run", task.run);
  std::string output;
  std::uint64_t missed = 0;
  while (true) {
    request.set("wait_seconds", Clock::now() < end ? 1 : 0);
    const auto answer = services_.spawner(request);
    if (!answer) return answer;
    const Json& piece = answer->json;
    const auto text = text_of(piece, "output");
    output += text;
    missed += number_of(piece, "missed") + keep_end(output, max_output_bytes);
    request.set("cursor", number_of(piece, "cursor"));
    request.set("run", number_of(piece, "run"));  // a new task does not take its place
    const auto now = Clock::now();
    const bool is_running = text_of(piece, "status") == "running";
    const bool is_over = !is_running && text.empty();
    const bool is_enough = !task.until_end && !output.empty();
    // What an ended task wrote is read to its end, also after the time.
    const bool is_late = now >= end && (is_running || text.empty());
    if (is_over || is_enough || is_late || context.state() != CallContext::State::wanted) {
      Json result{{"worker", task.worker},
                  {"task", number_of(piece, "run")},
                  {"status", text_of(piece, "status")}};
      if (has(piece, "exit_status")) result.set("exit_status", *piece.find("exit_status"));
      result.set("output", std::move(output));
      result.set("cursor", number_of(piece, "cursor"));
      result.set("missed", missed);
      if (has(piece, "files")) {
        result.set("files", list_with(list_of(piece, "files"), file_names));
        result.set("truncated", flag_of(piece, "truncated"));
      }
      return DaemonAnswer{std::move(result)};
    }
    if (now - reported >= between_reports) {
      reported = now;
      context.report(std::chrono::duration<double>(now - start).count(), 0, last_line(output));
    }
  }
}

Captain::Outcome Captain::cancel_task(const ToolCall& call, CallContext& /*context*/) {
  Json request{{"action", "cancel"}, {"task_id", worker_of(call)}};
  if (const Json* number = call.arguments.find("task")) request.set("run", *number);
  const auto answer = services_.spawner(request);
  if (!answer) return answer;
  Json result = picked(answer->json, run_names);
  result.set("worker", worker_of(call));
  return DaemonAnswer{std::move(result)};
}

Captain::Outcome Captain::list_files(const ToolCall& call, CallContext& /*context*/) {
  Json request{{"action", "files"}, {"task_id", worker_of(call)}};
  if (has(call.arguments, "path")) request.set("path", text_of(call.arguments, "path"));
  if (const Json* number = call.arguments.find("task")) request.set("run", *number);
  const auto answer = services_.spawner(request);
  if (!answer) return answer;
  Json result{{"worker", worker_of(call)},
              {"path", text_of(answer->json, "path")},
              {"files", list_with(list_of(answer->json, "files"), file_names)},
              {"truncated", flag_of(answer->json, "truncated")}};
  return DaemonAnswer{std::move(result)};
}

Captain::Outcome Captain::read_file(const ToolCall& call, CallContext& /*context*/) {
  const auto answer = services_.spawner({{"action", "read_file"},
                                         {"task_id", worker_of(call)},
                                         {"path", text_of(call.arguments, "path")},
                                         {"offset", number_of(call.arguments, "offset")}});
  if (!answer) return answer;
  static constexpr std::array<Renamed, 7> names{{{"task_id", "worker"},
                                                 {"path", "path"},
                                                 {"encoding", "encoding"},
                                                 {"content", "content"},
                                                 {"offset", "offset"},
                                                 {"next_offset", "next_offset"},
                                                 {"size", "size"}}};
  return DaemonAnswer{picked(answer->json, names)};
}

// The daemon has other agents, too. They are none of the captain's business.
Captain::Outcome Captain::check_is_worker(const std::string& id) {
  return services_.spawner({{"action", "status"}, {"task_id", id}});
}

Captain::Outcome Captain::explain_access(const ToolCall& call, CallContext& /*context*/) {
  if (const auto worker = check_is_worker(worker_of(call)); !worker) return worker;
  const auto answer = services_.daemon(explain_request(call));
  if (!answer) return answer;
  static constexpr std::array<Renamed, 5> names{{{"verdict", "verdict"},
                                                 {"reason", "reason"},
                                                 {"rule", "rule"},
                                                 {"message", "message"},
                                                 {"asks", "asks"}}};
  static constexpr std::array<Renamed, 3> step_names{
      {{"step", "step"}, {"result", "result"}, {"detail", "detail"}}};
  Json result = with_worker(call, picked(answer->json, names));
  result.set("steps", list_with(list_of(answer->json, "steps"), step_names));
  return DaemonAnswer{std::move(result)};
}

Captain::Outcome Captain::request_access(const ToolCall& call, CallContext& context) {
  if (const auto worker = check_is_worker(worker_of(call)); !worker) return worker;
  Json request{
      {"action", "ask"}, {"agent", worker_of(call)}, {"url", text_of(call.arguments, "url")}};
  if (has(call.arguments, "method")) request.set("method", text_of(call.arguments, "method"));
  auto reason = text_of(call.arguments, "reason");
  const Json& said = object_of(call.input_responses, "reason");
  if (text_of(said, "action") == "accept") reason = text_of(object_of(said, "content"), "reason");
  if (!reason.empty()) request.set("reason", one_line(std::move(reason)));
  const auto answer = services_.daemon(request);
  if (!answer) return answer;
  static constexpr std::array<Renamed, 4> names{
      {{"state", "state"}, {"id", "ask"}, {"host", "host"}, {"port", "port"}}};
  Json result = with_worker(call, picked(answer->json, names));
  return wait_for_answer(call, std::move(result), context);
}

Captain::Outcome Captain::wait_for_answer(const ToolCall& call, Json result, CallContext& context) {
  const auto start = Clock::now();
  const auto end = start + std::chrono::seconds{number_of(call.arguments, "wait_seconds")};
  const auto id = text_of(result, "ask");
  while (text_of(result, "state") == "open" && Clock::now() < end &&
         context.state() == CallContext::State::wanted) {
    context.report(std::chrono::duration<double>(Clock::now() - start).count(), 0,
                   "a person is asked");
    context.wait(between_looks);
    const auto open = services_.daemon({{"action", "asks"}, {"agent", worker_of(call)}});
    if (!open) return open;
    const auto& asks = list_of(open->json, "asks");
    if (std::any_of(asks.begin(), asks.end(),
                    [&](const Json& ask) { return text_of(ask, "id") == id; })) {
      continue;
    }
    const auto judged = services_.daemon(explain_request(call));
    if (!judged) return judged;
    result.set("state", text_of(judged->json, "verdict") == "allow" ? "allowed" : "refused");
  }
  return DaemonAnswer{std::move(result)};
}

Captain::Outcome Captain::containment_status(const ToolCall& call, CallContext& /*context*/) {
  const auto workers = services_.spawner({{"action", "list"}});
  if (!workers) return workers;
  const auto only = worker_of(call);
  if (!only.empty()) {
    if (const auto worker = check_is_worker(only); !worker) return worker;
  }
  const auto daemon = services_.daemon({{"action", "status"}});
  const auto agents = services_.daemon({{"action", "agents"}});
  const auto is_at = [](const Outcome& answer, const std::string& id) {
    if (!answer) return false;
    const auto& all = list_of(answer->json, "agents");
    return std::any_of(all.begin(), all.end(),
                       [&](const Json& agent) { return text_of(agent, "id") == id; });
  };
  std::vector<WorkerAtDaemon> known;
  for (const Json& worker : list_of(workers->json, "workers")) {
    const auto id = text_of(worker, "task_id");
    if (!only.empty() && id != only) continue;
    WorkerAtDaemon one{id, text_of(worker, "status"), {}, {}};
    if (is_at(agents, id)) {
      const auto agent = services_.daemon({{"action", "agent"}, {"agent", id}});
      if (agent) one.agent = object_of(agent->json, "agent");
      if (!agent) one.problem = agent.error().message;
    } else if (!agents) {
      one.problem = agents.error().message;
    }
    known.push_back(std::move(one));
  }
  return DaemonAnswer{containment(daemon ? daemon->json : Json{},
                                  daemon ? std::string{} : daemon.error().message, known)};
}

}  // namespace stile::mcp
