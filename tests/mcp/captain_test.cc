// The tools of a captain: which requests they become, and what becomes of the answers. The answers
// are what stile-spawner and stiled write.
#include "mcp/captain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "mcp/captain_tools.h"
#include "mcp/protocol.h"
#include "mcp/schema_check.h"

using namespace stile;
using namespace stile::mcp;

namespace {

class Context final : public CallContext {
 public:
  [[nodiscard]] State state() const noexcept override { return now; }
  void wait(std::chrono::milliseconds /*time*/) override { ++waits; }
  void report(double done, double /*total*/, const std::string& message) override {
    EXPECT_GT(done, last_done);
    last_done = done;
    reports.push_back(message);
  }
  State now = State::wanted;
  double last_done = -1;
  std::vector<std::string> reports;
  int waits = 0;
};

// Answers each action with the next of its lines; the last one stays.
struct FakePeer {
  std::map<std::string, std::vector<std::string>> lines;
  std::vector<std::string> requests;

  Result<DaemonAnswer> ask(const Json& request) {
    requests.push_back(request.dump());
    auto& left = lines[text_of(request, "action")];
    if (left.empty()) return Error{"nothing for " + request.dump()};
    const std::string line = left.front();
    if (left.size() > 1) left.erase(left.begin());
    const Json answer = Json::parse(line);
    if (has(answer, "error")) return Error{text_of(answer, "error")};
    return DaemonAnswer{answer};
  }
};

struct Bridge {
  FakePeer spawner, daemon;
  Context context;
  Captain captain{{[this](const Json& request) { return spawner.ask(request); },
                   [this](const Json& request) { return daemon.ask(request); }}};

  ToolCall call_of(const std::string& tool, const std::string& arguments) {
    ToolCall call;
    call.id = 1;
    call.tool = tool;
    call.arguments = Json::parse(arguments);
    return call;
  }
  // The structured result, which fits the output schema, and its text.
  Json result(const std::string& tool, const std::string& arguments) {
    const auto& tools = captain.tools();
    const auto found =
        std::find_if(tools.begin(), tools.end(), [&](const Tool& one) { return one.name == tool; });
    const auto call = call_of(tool, arguments);
    EXPECT_EQ(schema_problem(found->input_schema, call.arguments), "");
    const auto outcome = captain.call(call, context);
    const auto* done = std::get_if<ToolResult>(&outcome);
    if (done == nullptr || done->is_error) {
      ADD_FAILURE() << tool << ": " << (done == nullptr ? "no result" : done->content.dump());
      return {};
    }
    EXPECT_EQ(schema_problem(found->output_schema, done->structured), "")
        << done->structured.dump();
    EXPECT_EQ(text_of(done->content.items()[0], "text"), done->structured.dump());
    return done->structured;
  }
  std::string problem(const std::string& tool, const std::string& arguments) {
    const auto outcome = captain.call(call_of(tool, arguments), context);
    const auto* done = std::get_if<ToolResult>(&outcome);
    EXPECT_TRUE(done != nullptr && done->is_error);
    return done == nullptr ? "" : text_of(done->content.items()[0], "text");
  }
};

constexpr const char* listed =
    R"({"task_id":"a","workspace":"/mnt/agents/a","template":"default","tags":["x"],"status":"running","started_at":5,"expires_at":9})";

TEST(McpCaptain, HasTheToolsOfTheContract) {
  const std::vector<std::string> names{"spawn_worker",     "list_workers",   "get_worker_status",
                                       "terminate_worker", "send_task",      "read_output",
                                       "cancel_task",      "list_files",     "read_file",
                                       "explain_access",   "request_access", "containment_status"};
  const auto tools = captain_tools();
  ASSERT_EQ(tools.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tool& tool = tools[i];
    EXPECT_EQ(tool.name, names[i]);
    EXPECT_FALSE(tool.description.empty());
    for (const Json& schema : {tool.input_schema, tool.output_schema}) {
      EXPECT_EQ(text_of(schema, "type"), "object") << tool.name;
      EXPECT_TRUE(object_of(schema, "properties").is_object()) << tool.name;
      for (const Json& name : list_of(schema, "required")) {
        EXPECT_NE(object_of(schema, "properties").find(name.text()), nullptr) << tool.name;
      }
    }
    EXPECT_FALSE(tool.only_reads && tool.destroys) << tool.name;
  }
}

TEST(McpCaptain, SpawnsFromATemplateThatItCanOnlyNarrow) {
  Bridge one;
  one.spawner.lines["spawn"] = {
      R"({"task_id":"a","workspace":"/w/a","auth_token":"secret","template":"t","status":"spawned","expires_at":9})"};
  const Json said = one.result(
      "spawn_worker",
      R"({"worker":"a","template":"t","workspace":"/w","tags":["x"],"ttl_seconds":60,"allowed_hosts":["h.example"],"resource_limits":{"memory_mb":1}})");
  EXPECT_EQ(
      one.spawner.requests[0],
      R"({"action":"spawn","task_id":"a","workspace":"/w","template":"t","tags":["x"],)"
      R"("card":{"ttl_seconds":60,"allowed_hosts":["h.example"],"resource_limits":{"memory_mb":1}}})");
  EXPECT_EQ(
      said.dump(),
      R"({"worker":"a","status":"spawned","template":"t","workspace":"/w/a","expires_at":9})");
  EXPECT_FALSE(one.result("spawn_worker", "{}").is_null());
  const Json request = Json::parse(one.spawner.requests[1]);
  EXPECT_TRUE(text_of(request, "task_id").starts_with("worker-"));
  EXPECT_EQ(text_of(request, "workspace"), "/mnt/agents");
  EXPECT_FALSE(has(request, "card"));
}

TEST(McpCaptain, ShowsWorkers) {
  Bridge one;
  one.spawner.lines["list"] = {std::string{R"({"workers":[)"} + listed + "]}"};
  EXPECT_EQ(list_of(one.result("list_workers", "{}"), "workers").size(), 1U);
  EXPECT_EQ(list_of(one.result("list_workers", R"({"tag":"x"})"), "workers").size(), 1U);
  EXPECT_EQ(list_of(one.result("list_workers", R"({"tag":"y"})"), "workers").size(), 0U);
  std::string status = listed;
  status.pop_back();
  one.spawner.lines["status"] = {
      status +
      R"(,"memory_bytes":7,"processes":1,"runs":[{"run":1,"status":"failed","exit_status":3,"started_at":1,"ended_at":2}]})"};
  const Json said = one.result("get_worker_status", R"({"worker":"a"})");
  EXPECT_EQ(list_of(said, "tasks").dump(),
            R"([{"task":1,"status":"failed","exit_status":3,"started_at":1,"ended_at":2}])");
  EXPECT_EQ(number_of(said, "memory_bytes"), 7U);
  one.spawner.lines["terminate"] = {R"({"task_id":"a","status":"terminated"})"};
  EXPECT_EQ(one.result("terminate_worker", R"({"worker":"a"})").dump(),
            R"({"worker":"a","status":"terminated"})");
}

TEST(McpCaptain, FollowsATaskToItsEnd) {
  Bridge one;
  one.spawner.lines["run"] = {R"({"task_id":"a","run":4,"status":"running"})"};
  one.spawner.lines["output"] = {
      R"({"run":4,"output":"one\n","cursor":4,"missed":0,"status":"running"})",
      R"({"run":4,"output":"","cursor":4,"missed":0,"status":"running"})",
      R"({"run":4,"output":"two\n","cursor":10,"missed":2,"status":"completed","exit_status":0})",
      R"({"run":4,"output":"","cursor":10,"missed":0,"status":"completed","exit_status":0})"};
  const Json said = one.result("send_task", R"({"worker":"a","message":"work"})");
  EXPECT_EQ(
      said.dump(),
      R"({"worker":"a","task":4,"status":"completed","exit_status":0,"output":"one\ntwo\n","cursor":10,"missed":2})");
  EXPECT_EQ(one.spawner.requests[0], R"({"action":"run","task_id":"a","message":"work\n"})");
  EXPECT_EQ(one.spawner.requests[1],
            R"({"action":"output","task_id":"a","cursor":0,"run":4,"wait_seconds":1})");
  EXPECT_EQ(one.spawner.requests[2],
            R"({"action":"output","task_id":"a","cursor":4,"run":4,"wait_seconds":1})");
  EXPECT_EQ(one.context.reports,
            std::vector<std::string>{"one"});  // not more often than 4 a second
}

TEST(McpCaptain, DoesNotWaitLongerThanItMay) {
  Bridge one;
  one.spawner.lines["run"] = {R"({"task_id":"a","run":4,"status":"running"})"};
  one.spawner.lines["output"] = {
      R"({"run":4,"output":"","cursor":0,"missed":0,"status":"running"})"};
  EXPECT_EQ(text_of(one.result("send_task", R"({"worker":"a","message":"m","wait_seconds":0})"),
                    "status"),
            "running");
  EXPECT_EQ(one.spawner.requests.size(), 2U);
  EXPECT_EQ(text_of(one.result("read_output", R"({"worker":"a","task":4,"cursor":7})"), "status"),
            "running");
  EXPECT_EQ(one.spawner.requests[2],
            R"({"action":"output","task_id":"a","cursor":7,"run":4,"wait_seconds":0})");
}

TEST(McpCaptain, DoesNotWaitForATaskThatNeverStopsWriting) {
  Bridge one;
  one.spawner.lines["run"] = {R"({"task_id":"a","run":4,"status":"running"})"};
  one.spawner.lines["output"] = {
      R"({"run":4,"output":"x","cursor":1,"missed":0,"status":"running"})"};
  const Json said = one.result("send_task", R"({"worker":"a","message":"m","wait_seconds":0})");
  EXPECT_EQ(text_of(said, "output"), "x");
  EXPECT_EQ(one.spawner.requests.size(), 2U);
}

TEST(McpCaptain, ReadsOutputAsSoonAsThereIsSome) {
  Bridge one;
  one.spawner.lines["output"] = {
      R"({"run":4,"output":"x","cursor":1,"missed":0,"status":"running"})"};
  EXPECT_EQ(text_of(one.result("read_output", R"({"worker":"a","wait_seconds":3600})"), "output"),
            "x");
  EXPECT_EQ(one.spawner.requests.size(), 1U);
}

TEST(McpCaptain, CancelsTheTaskOfACallThatIsNotWanted) {
  for (const auto state : {CallContext::State::canceled, CallContext::State::abandoned}) {
    Bridge one;
    one.context.now = state;
    one.spawner.lines["run"] = {R"({"task_id":"a","run":4,"status":"running"})"};
    one.spawner.lines["output"] = {
        R"({"run":4,"output":"","cursor":0,"missed":0,"status":"running"})"};
    one.spawner.lines["cancel"] = {R"({"task_id":"a","run":4,"status":"canceled"})"};
    EXPECT_FALSE(one.result("send_task", R"({"worker":"a","message":"m"})").is_null());
    const bool is_canceled =
        one.spawner.requests.back() == R"({"action":"cancel","task_id":"a","run":4})";
    EXPECT_EQ(is_canceled, state == CallContext::State::canceled);
  }
}

TEST(McpCaptain, KeepsTheEndOfLongOutput) {
  Bridge one;
  // Characters of two bytes, cut in the middle of one.
  std::string text;
  for (std::size_t i = 0; i <= Captain::max_output_bytes / 2; ++i) text += "\xc3\xa4";
  one.spawner.lines["output"] = {
      Json{{"run", 1}, {"output", text + "."}, {"cursor", 7}, {"missed", 5}, {"status", "running"}}
          .dump()};
  const Json said = one.result("read_output", R"({"worker":"a"})");
  EXPECT_EQ(text_of(said, "output").size(), Captain::max_output_bytes - 1);
  EXPECT_EQ(number_of(said, "missed"), 5U + 4U);
  EXPECT_TRUE(text_of(said, "output").starts_with("\xc3\xa4"));
}

TEST(McpCaptain, SaysWhichFilesATaskChanged) {
  Bridge one;
  one.spawner.lines["output"] = {
      R"({"run":1,"output":"","cursor":0,"status":"completed","exit_status":0,)"
      R"("files":[{"name":"d/f","size":1,"is_dir":false,"modified_at":2}],"truncated":true})"};
  const Json said = one.result("read_output", R"({"worker":"a"})");
  EXPECT_EQ(said.find("files")->dump(),
            R"([{"name":"d/f","size":1,"is_directory":false,"modified_at":2}])");
  EXPECT_TRUE(flag_of(said, "truncated"));
}

TEST(McpCaptain, ReadsFiles) {
  Bridge one;
  one.spawner.lines["files"] = {
      R"({"task_id":"a","path":"","files":[{"name":"f","size":1,"is_dir":false,"modified_at":2}],"truncated":false})"};
  EXPECT_EQ(
      one.result("list_files", R"({"worker":"a"})").dump(),
      R"({"worker":"a","path":"","files":[{"name":"f","size":1,"is_directory":false,"modified_at":2}],"truncated":false})");
  one.spawner.lines["files"] = {R"({"task_id":"a","run":3,"files":[],"truncated":false})"};
  EXPECT_EQ(one.result("list_files", R"({"worker":"a","task":3})").dump(),
            R"({"worker":"a","path":"","files":[],"truncated":false})");
  EXPECT_EQ(one.spawner.requests.back(), R"({"action":"files","task_id":"a","run":3})");
  one.spawner.lines["read_file"] = {
      R"({"task_id":"a","path":"f","encoding":"utf-8","content":"x","offset":0,"next_offset":1,"size":1})"};
  EXPECT_EQ(text_of(one.result("read_file", R"({"worker":"a","path":"f","offset":0})"), "content"),
            "x");
  EXPECT_EQ(one.spawner.requests.back(),
            R"({"action":"read_file","task_id":"a","path":"f","offset":0})");
}

TEST(McpCaptain, AsksTheDaemonAboutWorkersOnly) {
  Bridge one;
  one.spawner.lines["status"] = {R"({"error":"Worker b not found"})"};
  for (const char* tool : {"explain_access", "request_access"}) {
    EXPECT_EQ(one.problem(tool, R"({"worker":"b","url":"https://x.example"})"),
              "Worker b not found");
  }
  EXPECT_EQ(one.problem("containment_status", R"({"worker":"b"})").substr(0, 11), "nothing for");
  EXPECT_TRUE(one.daemon.requests.empty());
}

TEST(McpCaptain, ExplainsAccess) {
  Bridge one;
  one.spawner.lines["status"] = {listed};
  one.daemon.lines["explain"] = {
      R"({"ok":true,"verdict":"deny","reason":"host-not-allowed","agent":"a","rule":"","asks":true,"message":"No.","steps":[{"number":6,"step":"host","result":"x","detail":"y"}]})"};
  const Json said =
      one.result("explain_access", R"({"worker":"a","url":"https://x.example/","method":"POST"})");
  EXPECT_EQ(one.daemon.requests[0],
            R"({"action":"explain","agent":"a","url":"https://x.example/","method":"POST"})");
  EXPECT_EQ(text_of(said, "verdict"), "deny");
  EXPECT_EQ(list_of(said, "steps").dump(), R"([{"step":"host","result":"x","detail":"y"}])");
}

TEST(McpCaptain, AsksAPersonAndWaits) {
  Bridge one;
  one.spawner.lines["status"] = {listed};
  one.daemon.lines["ask"] = {
      R"({"ok":true,"id":"f1","state":"open","host":"x.example","port":443})"};
  EXPECT_EQ(
      one.result("request_access", R"({"worker":"a","url":"https://x.example","reason":"wheels"})")
          .dump(),
      R"({"worker":"a","state":"open","ask":"f1","host":"x.example","port":443})");
  EXPECT_EQ(one.daemon.requests[0],
            R"({"action":"ask","agent":"a","url":"https://x.example","reason":"wheels"})");
  for (const auto& [verdict, state] :
       std::map<std::string, std::string>{{"allow", "allowed"}, {"deny", "refused"}}) {
    Bridge other;
    other.spawner.lines["status"] = {listed};
    other.daemon.lines["ask"] = one.daemon.lines["ask"];
    other.daemon.lines["asks"] = {R"({"ok":true,"asks":[{"id":"f1"},{"id":"f2"}]})",
                                  R"({"ok":true,"asks":[{"id":"f2"}]})"};
    other.daemon.lines["explain"] = {R"({"ok":true,"verdict":")" + verdict + "\"}"};
    EXPECT_EQ(text_of(other.result("request_access",
                                   R"({"worker":"a","url":"https://x.example","wait_seconds":60})"),
                      "state"),
              state);
    EXPECT_EQ(other.context.waits, 2);
  }
}

TEST(McpCaptain, AsksTheUserForAReasonWhereItCan) {
  Bridge one;
  one.spawner.lines["status"] = {listed};
  one.daemon.lines["ask"] = {
      R"({"ok":true,"id":"f1","state":"open","host":"x.example","port":443})"};
  auto call = one.call_of("request_access", R"({"worker":"a","url":"https://x.example"})");
  call.era = Era::stateless;
  call.client_capabilities = Json::parse(R"({"elicitation":{}})");
  const auto first = one.captain.call(call, one.context);
  const auto* wanted = std::get_if<InputRequired>(&first);
  ASSERT_NE(wanted, nullptr);
  EXPECT_EQ(text_of(object_of(wanted->requests, "reason"), "method"), "elicitation/create");
  EXPECT_TRUE(one.daemon.requests.empty());
  call.input_responses =
      Json::parse(R"({"reason":{"action":"accept","content":{"reason":"whe\nels"}}})");
  EXPECT_TRUE(std::holds_alternative<ToolResult>(one.captain.call(call, one.context)));
  EXPECT_NE(one.daemon.requests[0].find(R"("reason":"whe els")"), std::string::npos);
  // The user need not say why.
  call.input_responses = Json::parse(R"({"reason":{"action":"decline"}})");
  EXPECT_TRUE(std::holds_alternative<ToolResult>(one.captain.call(call, one.context)));
  EXPECT_EQ(one.daemon.requests[1].find("reason"), std::string::npos);
  // A client that cannot ask, or of the other era, is not asked.
  call.input_responses = {};
  call.client_capabilities = Json::object();
  EXPECT_TRUE(std::holds_alternative<ToolResult>(one.captain.call(call, one.context)));
  call.client_capabilities = Json::parse(R"({"elicitation":{}})");
  call.era = Era::session;
  EXPECT_TRUE(std::holds_alternative<ToolResult>(one.captain.call(call, one.context)));
}

TEST(McpCaptain, SaysWhyItFailed) {
  Bridge one;
  one.spawner.lines["spawn"] = {R"({"error":"evil.example would be more than the template has"})"};
  EXPECT_EQ(one.problem("spawn_worker", R"({"allowed_hosts":["evil.example"]})"),
            "evil.example would be more than the template has");
}

TEST(McpCaptain, JudgesContainment) {
  Bridge one;
  one.spawner.lines["list"] = {std::string{R"({"workers":[)"} + listed + "]}"};
  one.daemon.lines["status"] = {R"({"ok":true,"version":"1","mode":"enforce","draining":false})"};
  one.daemon.lines["agent"] = {
      R"({"ok":true,"agent":{"id":"a","mode":"enforce","connections":0,"grants":[],"counters":{"requests_allowed":1,"requests_denied":2}}})"};
  one.daemon.lines["agents"] = {R"({"ok":true,"agents":[{"id":"a"}]})"};
  EXPECT_TRUE(flag_of(one.result("containment_status", "{}"), "contained"));
  one.daemon.lines.erase("agent");  // it is there, and could not be looked at
  EXPECT_FALSE(flag_of(one.result("containment_status", "{}"), "contained"));
  one.daemon.lines["agents"] = {R"({"ok":true,"agents":[]})"};  // it is not: all is refused
  EXPECT_TRUE(flag_of(one.result("containment_status", "{}"), "contained"));
  one.daemon.lines.clear();
  EXPECT_FALSE(flag_of(one.result("containment_status", "{}"), "contained"));
}

}  // namespace
