// Requests: routes, methods, versions and parameters, and what is refused.
#include "a2a/request.h"

#include <gtest/gtest.h>

namespace stile::a2a {
namespace {

const std::string hello = R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]})";

Read rpc(const std::string& method, const std::string& params, const std::string& version = "1.0") {
  const std::string body =
      R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + '}';
  return read_request({"POST", "/rpc", body, {}, version});
}

Read rest(std::string_view method, std::string_view path, const std::string& body = "",
          std::map<std::string, std::string> query = {}, const std::string& version = "1.0") {
  return read_request({method, path, body, std::move(query), version});
}

Problem problem_of(const Read& read) {
  return read.call ? Problem::internal : read.call.error().problem;
}

TEST(A2aRequest, KnowsEachRoute) {
  struct Case {
    std::string_view method, path;
    Operation operation;
    Dialect dialect = Dialect::v1;
    std::string_view task = "";
  };
  const auto message = R"({"message":)" + hello + '}';
  const Case cases[]{
      {"POST", "/message:send", Operation::send},
      {"POST", "/message:stream", Operation::send_stream},
      {"GET", "/tasks", Operation::list},
      {"GET", "/tasks/5-1", Operation::get, Dialect::v1, "5-1"},
      {"POST", "/tasks/5-1:cancel", Operation::cancel, Dialect::v1, "5-1"},
      {"POST", "/tasks/5-1:subscribe", Operation::subscribe, Dialect::v1, "5-1"},
      {"GET", "/tasks/5-1:subscribe", Operation::subscribe, Dialect::v1, "5-1"},
      {"POST", "/tasks/send", Operation::send_stream, Dialect::plain},
      {"POST", "/tasks/5-1/cancel", Operation::cancel, Dialect::plain, "5-1"},
      {"POST", "/tasks/5-1/messages", Operation::send, Dialect::plain, "5-1"},
      {"GET", "/stream", Operation::follow_latest, Dialect::plain},
      {"GET", "/files", Operation::files, Dialect::plain},
  };
  for (const auto& one : cases) {
    const bool has_body =
        one.operation == Operation::send || one.operation == Operation::send_stream;
    const auto read = rest(one.method, one.path, has_body ? message : "");
    ASSERT_TRUE(read.call) << one.path;
    EXPECT_FALSE(read.is_rpc);
    EXPECT_EQ(read.call->operation, one.operation) << one.path;
    EXPECT_EQ(read.call->dialect, one.dialect) << one.path;
    EXPECT_EQ(read.call->task, one.task) << one.path;
  }
  const auto file = rest("GET", "/files/content", "", {{"path", "a/b"}, {"offset", "12"}});
  ASSERT_TRUE(file.call);
  EXPECT_EQ(file.call->path, "a/b");
  EXPECT_EQ(file.call->offset, 12U);
  EXPECT_EQ(problem_of(rest("GET", "/files/content")), Problem::invalid_params);
}

TEST(A2aRequest, RefusesOtherRoutes) {
  for (const auto* path : {"", "/", "/message", "/message:sendx", "/tasks/", "/tasks/5-1:pause",
                           "/tasks/a b", "/tasks/%2e", "/tasks/a/b", "/v1/message:send", "/rpc/"}) {
    EXPECT_EQ(problem_of(rest("POST", path, "{}")), Problem::method_not_found) << path;
  }
  EXPECT_EQ(problem_of(rest("GET", "/message:send")), Problem::method_not_found);
  EXPECT_EQ(problem_of(rest("DELETE", "/tasks/5-1")), Problem::method_not_found);
  EXPECT_EQ(problem_of(rest("GET", "/rpc")), Problem::method_not_found);
}

TEST(A2aRequest, RefusesPushNotificationsAndTheExtendedCard) {
  EXPECT_EQ(problem_of(rest("POST", "/tasks/5-1/pushNotificationConfigs", "{}")),
            Problem::push_not_supported);
  EXPECT_EQ(problem_of(rest("GET", "/tasks/5-1/pushNotificationConfigs")),
            Problem::push_not_supported);
  for (const auto* method : {"GET", "DELETE"}) {
    EXPECT_EQ(problem_of(rest(method, "/tasks/5-1/pushNotificationConfigs/c")),
              Problem::push_not_supported);
  }
  for (const auto* method :
       {"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"}) {
    EXPECT_EQ(problem_of(rpc(method, "{}")), Problem::push_not_supported) << method;
  }
  EXPECT_EQ(problem_of(rpc("SendMessage", R"({"message":)" + hello +
                                              R"(,"configuration":{"taskPushNotificationConfig":)"
                                              R"({"url":"http://x.test"}}})")),
            Problem::push_not_supported);
  EXPECT_EQ(problem_of(rpc("GetExtendedAgentCard", "{}")), Problem::unsupported_operation);
  EXPECT_EQ(problem_of(rest("GET", "/extendedAgentCard")), Problem::unsupported_operation);
  EXPECT_EQ(problem_of(rpc("agent/getAuthenticatedExtendedCard", "{}", "0.3")),
            Problem::no_extended_card);
}

TEST(A2aRequest, KnowsTheMethodsOfBothVersions) {
  const auto message = R"({"message":)" + hello + '}';
  const std::string old_message =
      R"({"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}})";
  const std::string id = R"({"id":"5-1"})";
  struct Case {
    const char* method;
    std::string params, version;
    Operation operation;
  };
  const Case cases[]{
      {"SendMessage", message, "1.0", Operation::send},
      {"SendStreamingMessage", message, "1.0", Operation::send_stream},
      {"GetTask", id, "1.0", Operation::get},
      {"ListTasks", "{}", "1.0", Operation::list},
      {"CancelTask", id, "1.0", Operation::cancel},
      {"SubscribeToTask", id, "1.0", Operation::subscribe},
      {"GetTask", id, "1.0.1", Operation::get},
      {"message/send", old_message, "", Operation::send},
      {"message/stream", old_message, "0.3", Operation::send_stream},
      {"tasks/get", id, "", Operation::get},
      {"tasks/cancel", id, "0.3", Operation::cancel},
      {"tasks/resubscribe", id, "0.3.0", Operation::subscribe},
  };
  for (const auto& one : cases) {
    const auto read = rpc(one.method, one.params, one.version);
    ASSERT_TRUE(read.call) << one.method << ' ' << read.call.error().message;
    EXPECT_TRUE(read.is_rpc);
    EXPECT_EQ(read.id, "7");
    EXPECT_EQ(read.call->operation, one.operation) << one.method;
    EXPECT_EQ(read.call->dialect, one.version.starts_with('1') ? Dialect::v1 : Dialect::v03);
  }
}

TEST(A2aRequest, ServesEachVersionUnderItsOwnNamesOnly) {
  const std::string id = R"({"id":"5-1"})";
  for (const auto* version : {"2.0", "0.2", "1", "1.0x", "1.00", "1.0.", "v1.0", " 1.0", "1.0.a"}) {
    EXPECT_EQ(problem_of(rpc("GetTask", id, version)), Problem::version_not_supported) << version;
    EXPECT_EQ(problem_of(rest("GET", "/tasks/5-1", "", {}, version)),
              Problem::version_not_supported)
        << version;
  }
  // Without a version it is 0.3, which has other methods and is not offered over HTTP+JSON.
  EXPECT_EQ(problem_of(rpc("GetTask", id, "")), Problem::version_not_supported);
  EXPECT_EQ(problem_of(rest("GET", "/tasks/5-1", "", {}, "")), Problem::version_not_supported);
  EXPECT_TRUE(rest("GET", "/tasks/5-1", "", {{"A2A-Version", "1.0"}}, "").call);
  EXPECT_EQ(problem_of(rpc("tasks/get", id, "1.0")), Problem::method_not_found);
  EXPECT_EQ(problem_of(rpc("tasks/list", "{}", "")), Problem::method_not_found);
  EXPECT_EQ(problem_of(rpc("sendmessage", "{}")), Problem::method_not_found);
}

TEST(A2aRequest, ReadsAMessage) {
  const auto read =
      rpc("SendMessage", R"({"message":{"messageId":"m","role":"ROLE_USER",)"
                         R"("contextId":"alpha","taskId":"5-1","parts":[{"text":"a"},)"
                         R"({"text":"b","mediaType":"text/markdown","metadata":null}]},)"
                         R"("configuration":{"returnImmediately":true,"historyLength":0,)"
                         R"("acceptedOutputModes":["text/plain"]},"tenant":""})");
  ASSERT_TRUE(read.call);
  EXPECT_EQ(read.call->text, "a\nb");
  EXPECT_EQ(read.call->context, "alpha");
  EXPECT_EQ(read.call->task, "5-1");
  EXPECT_TRUE(read.call->is_immediate);
  EXPECT_FALSE(rpc("SendMessage", R"({"message":)" + hello + '}').call->is_immediate);
}

TEST(A2aRequest, RefusesMessagesThatItCannotPassOn) {
  struct Case {
    const char* params;
    Problem problem;
  };
  const Case cases[]{
      {"{}", Problem::invalid_params},
      {R"({"message":"hi"})", Problem::invalid_params},
      {R"({"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}})", Problem::invalid_params},
      {R"({"message":{"messageId":"m","parts":[{"text":"x"}]}})", Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}})",
       Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]}})",
       Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_USER"}})", Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[]}})", Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":""}]}})",
       Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"aGk="}]}})",
       Problem::content_type_not_supported},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"url":"file:///etc/passwd"}]}})",
       Problem::content_type_not_supported},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","mediaType":"image/png"}]}})",
       Problem::content_type_not_supported},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":["x"]}})",
       Problem::content_type_not_supported},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","taskId":"../x","parts":[{"text":"x"}]}})",
       Problem::task_not_found},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":1})",
       Problem::invalid_params},
      {R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},)"
       R"("configuration":{"historyLength":-1}})",
       Problem::invalid_params},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(problem_of(rpc("SendMessage", one.params)), one.problem) << one.params;
  }
}

TEST(A2aRequest, ReadsTheFilterOfAList) {
  const auto read = rest("GET", "/tasks", "",
                         {{"contextId", "alpha"},
                          {"status", "TASK_STATE_WORKING"},
                          {"pageSize", "100"},
                          {"pageToken", "t"},
                          {"historyLength", "0"},
                          {"includeArtifacts", "true"},
                          {"statusTimestampAfter", "2026-11-18T00:00:00Z"}});
  ASSERT_TRUE(read.call);
  const auto& filter = read.call->filter;
  EXPECT_EQ(filter.context, "alpha");
  EXPECT_EQ(filter.state, State::working);
  EXPECT_EQ(filter.page_size, 100U);
  EXPECT_TRUE(filter.has_output);
  EXPECT_EQ(filter.after, parse_time("2026-11-18T00:00:00Z"));
  const std::pair<const char*, const char*> wrong[]{
      {"pageSize", "0"},       {"pageSize", "101"},   {"pageSize", "x"},
      {"pageSize", "-1"},      {"status", "WORKING"}, {"statusTimestampAfter", "yesterday"},
      {"historyLength", "-1"},
  };
  for (const auto& [key, value] : wrong) {
    EXPECT_EQ(problem_of(rest("GET", "/tasks", "", {{key, value}})), Problem::invalid_params)
        << key << value;
  }
}

TEST(A2aRequest, AnswersBrokenJsonRpcWithTheIdIfThereIsOne) {
  const auto read = [](std::string_view body) {
    return read_request({"POST", "/rpc", body, {}, "1.0"});
  };
  EXPECT_EQ(problem_of(read("{")), Problem::not_json);
  EXPECT_EQ(problem_of(read("")), Problem::not_json);
  EXPECT_EQ(problem_of(read("[]")), Problem::invalid_request);
  EXPECT_EQ(problem_of(read(R"({"id":1,"id":2})")), Problem::not_json);
  EXPECT_EQ(problem_of(read(R"({"jsonrpc":"1.0","id":"a\"b","method":"GetTask"})")),
            Problem::invalid_request);
  EXPECT_EQ(read(R"({"jsonrpc":"1.0","id":"a\"b","method":"GetTask"})").id, R"("a\"b")");
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":[1],"method":"GetTask"})").id, "null");
  EXPECT_EQ(problem_of(read(R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]})")),
            Problem::invalid_params);
  EXPECT_EQ(problem_of(read(R"({"jsonrpc":"2.0","id":1,"method":"GetTask"})")),
            Problem::invalid_params);
}

TEST(A2aRequest, NeedsEveryByteOfABody) {
  const std::string whole =
      R"({"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":)" + hello + "}}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(problem_of(read_request(
                  {"POST", "/rpc", std::string_view{whole}.substr(0, size), {}, "1.0"})),
              Problem::not_json)
        << size;
  }
  EXPECT_TRUE(read_request({"POST", "/rpc", whole, {}, "1.0"}).call);
}

TEST(A2aRequest, FindsTheCards) {
  EXPECT_EQ(card_at("/.well-known/agent-card.json"), CardForm::v1);
  EXPECT_EQ(card_at("/.well-known/agent.json"), CardForm::v03);
  EXPECT_EQ(card_at("/.well-known/"), CardForm::none);
}

}  // namespace
}  // namespace stile::a2a
