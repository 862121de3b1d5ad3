// What each message leads to, in both eras.
#include "mcp/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace stile;
using namespace stile::mcp;

namespace {

class OneTool final : public ToolBox {
 public:
  [[nodiscard]] const std::vector<Tool>& tools() const override { return tools_; }
  [[nodiscard]] ToolOutcome call(const ToolCall& /*call*/, CallContext& /*context*/) override {
    return plain_result("done");
  }

 private:
  std::vector<Tool> tools_{
      {"echo", "Echo", "Says it again.", true, false, false, false,
       Json::parse(
           R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false})"),
       Json::parse(R"({"type":"object"})")}};
};

constexpr const char* meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})";

struct Speaker {
  OneTool tools;
  Protocol protocol{"1.2", "be careful", tools};
  Handshake handshake;

  Step take(const std::string& text, const HttpHeaders* headers = nullptr) {
    const auto message = parse_message(text);
    EXPECT_TRUE(message.has_value()) << text;
    return protocol.take(*message, handshake, headers);
  }
  Json reply(const std::string& text, const HttpHeaders* headers = nullptr) {
    const auto step = take(text, headers);
    const auto* said = std::get_if<Reply>(&step);
    return said == nullptr ? Json{} : Json::parse(said->text);
  }
  unsigned status(const std::string& text, const HttpHeaders* headers = nullptr) {
    const auto step = take(text, headers);
    const auto* said = std::get_if<Reply>(&step);
    return said == nullptr ? 0 : said->status;
  }
  void greet() {
    const Json said = reply(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}})");
    EXPECT_TRUE(has(said, "result"));
  }
};

std::string request(const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":5,"method":")" + method + R"(","params":{)" + params + "}}";
}

std::int64_t code_of(const Json& reply) {
  return std::stoll("0" + text_of(object_of(reply, "error"), "code").substr(1)) * -1;
}

TEST(McpHandshake, AgreesOnAVersion) {
  struct Row {
    const char* asked;
    const char* agreed;
  };
  for (const auto& row : std::vector<Row>{{"2025-11-25", "2025-11-25"},
                                          {"2025-06-18", "2025-06-18"},
                                          {"2024-11-05", "2025-11-25"},
                                          {"2099-01-01", "2025-11-25"},
                                          {"", "2025-11-25"}}) {
    Speaker one;
    const Json said = one.reply(request("initialize", std::string{R"("protocolVersion":")"} +
                                                          row.asked + R"(","capabilities":{})"));
    const Json& result = object_of(said, "result");
    EXPECT_EQ(text_of(result, "protocolVersion"), row.agreed);
    EXPECT_EQ(object_of(result, "capabilities").dump(), R"({"tools":{}})");
    EXPECT_EQ(object_of(result, "serverInfo").dump(),
              R"({"name":"stile","title":"Stile","version":"1.2"})");
    EXPECT_EQ(text_of(result, "instructions"), "be careful");
    EXPECT_FALSE(has(result, "resultType"));
    EXPECT_EQ(one.handshake.version, row.agreed);
  }
}

TEST(McpHandshake, IsNeededFirst) {
  Speaker one;
  EXPECT_EQ(code_of(one.reply(request("tools/list", ""))), -32602);
  EXPECT_EQ(code_of(one.reply(request("initialize", R"("protocolVersion":"2025-11-25")"))), -32602);
  EXPECT_EQ(code_of(one.reply(request("initialize", R"("protocolVersion":7,"capabilities":{})"))),
            -32602);
  EXPECT_TRUE(one.handshake.version.empty());
  EXPECT_TRUE(has(one.reply(request("ping", "")), "result"));
  one.greet();
  EXPECT_TRUE(has(one.reply(request("tools/list", "")), "result"));
}

TEST(McpSession, ServesItsMethodsOnly) {
  Speaker one;
  one.greet();
  const Json list = object_of(one.reply(request("tools/list", "")), "result");
  EXPECT_EQ(list_of(list, "tools").size(), 1U);
  EXPECT_FALSE(has(list, "ttlMs"));
  EXPECT_EQ(
      list_of(list, "tools").items()[0].dump(),
      R"({"name":"echo","title":"Echo","description":"Says it again.","inputSchema":)"
      R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},)"
      R"("outputSchema":{"type":"object"},"annotations":{"title":"Echo","readOnlyHint":true,"openWorldHint":false}})");
  for (const char* method : {"prompts/list", "resources/list", "logging/setLevel", "tasks/list",
                             "completion/complete", "tools", "Tools/list"}) {
    const Json said = one.reply(request(method, ""));
    EXPECT_EQ(code_of(said), -32601) << method;
    EXPECT_EQ(number_of(said, "id"), 5U);
    EXPECT_EQ(one.status(request(method, "")), 200U);
  }
  EXPECT_EQ(code_of(one.reply(request("tools/list", R"("cursor":"x")"))), -32602);
}

TEST(McpSession, CallsATool) {
  Speaker one;
  one.greet();
  const auto step = one.take(request(
      "tools/call", R"("name":"echo","arguments":{"text":"hi"},"_meta":{"progressToken":9})"));
  const auto* call = std::get_if<ToolCall>(&step);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->tool, "echo");
  EXPECT_EQ(call->era, Era::session);
  EXPECT_EQ(call->arguments.dump(), R"({"text":"hi"})");
  EXPECT_EQ(call->client_capabilities.dump(), R"({"roots":{}})");
  EXPECT_EQ(
      Protocol::progress_text(*call, 1.5, 0, "x"),
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1.5,"message":"x"}})");
  EXPECT_EQ(
      one.protocol.finish(*call, plain_result("done")).text,
      R"({"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"done"}],"isError":false}})");
  // A client of this era cannot be asked.
  EXPECT_NE(one.protocol.finish(*call, InputRequired{}).text.find("-32603"), std::string::npos);
}

TEST(McpCall, SaysWhatIsWrong) {
  Speaker one;
  one.greet();
  for (const char* params :
       {R"("arguments":{})", R"("name":7)", R"("name":"eco")", R"("name":"echo","arguments":[])",
        R"("name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":{}})",
        R"("name":"echo","arguments":{"text":"x"},"inputResponses":null)",
        R"("name":"echo","arguments":{"text":"x"},"inputResponses":{"a":1})",
        R"("name":"echo","arguments":{"text":"x"},"requestState":1)"}) {
    EXPECT_EQ(code_of(one.reply(request("tools/call", params))), -32602) << params;
  }
  // What a model can correct is a result.
  for (const char* params : {R"("name":"echo")", R"("name":"echo","arguments":{"text":1})",
                             R"("name":"echo","arguments":{"text":"x","more":1})"}) {
    const Json result = object_of(one.reply(request("tools/call", params)), "result");
    EXPECT_TRUE(flag_of(result, "isError")) << params;
    EXPECT_NE(result.dump().find("invalid arguments: "), std::string::npos);
  }
}

TEST(McpNotifications, CancelOrSayNothing) {
  Speaker one;
  one.greet();
  const auto step = one.take(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  ASSERT_TRUE(std::holds_alternative<Cancel>(step));
  EXPECT_EQ(std::get<Cancel>(step).id.text(), "a");
  for (const char* text : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                           R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
                           R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}})",
                           R"({"jsonrpc":"2.0","id":3,"result":{}})"}) {
    EXPECT_TRUE(std::holds_alternative<Accepted>(one.take(text))) << text;
  }
}

TEST(McpStateless, NeedsNoHandshake) {
  Speaker one;
  const Json found = object_of(one.reply(request("server/discover", meta)), "result");
  EXPECT_EQ(list_of(found, "supportedVersions").dump(),
            R"(["2026-07-28","2025-11-25","2025-06-18"])");
  EXPECT_EQ(object_of(found, "capabilities").dump(), R"({"tools":{}})");
  for (const Json& result : {found, object_of(one.reply(request("tools/list", meta)), "result")}) {
    EXPECT_EQ(text_of(result, "resultType"), "complete");
    EXPECT_EQ(text_of(result, "cacheScope"), "private");
    EXPECT_EQ(number_of(result, "ttlMs"), 300000U);
    EXPECT_EQ(
        object_of(result, "_meta").dump(),
        R"({"io.modelcontextprotocol/serverInfo":{"name":"stile","title":"Stile","version":"1.2"}})");
  }
  EXPECT_TRUE(one.handshake.version.empty());
}

TEST(McpStateless, ChecksWhatARequestSaysOfItself) {
  const std::string version = R"("io.modelcontextprotocol/protocolVersion":)";
  const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":)";
  struct Row {
    std::string params;
    std::int64_t code;
  };
  const std::vector<Row> rows{
      {"", -32602},
      {R"("_meta":7)", -32602},
      {R"("_meta":{})", -32602},
      {R"("_meta":{)" + capabilities + "{}}", -32602},
      {R"("_meta":{)" + version + "7," + capabilities + "{}}", -32602},
      {R"("_meta":{)" + version + R"("2026-07-28"})", -32602},
      {R"("_meta":{)" + version + R"("2026-07-28",)" + capabilities + "[]}", -32602},
      {R"("_meta":{)" + version + R"("v999",)" + capabilities + "{}}", -32022},
      {R"("_meta":{)" + version + R"("2025-11-25",)" + capabilities + "{}}", -32022},
  };
  for (const auto& row : rows) {
    Speaker one;
    EXPECT_EQ(code_of(one.reply(request("server/discover", row.params))), row.code) << row.params;
    EXPECT_EQ(one.status(request("server/discover", row.params)), 400U) << row.params;
  }
  Speaker one;
  const Json said = one.reply(request("tools/list", rows[7].params));
  EXPECT_EQ(object_of(object_of(said, "error"), "data").dump(),
            R"({"supported":["2026-07-28","2025-11-25","2025-06-18"],"requested":"v999"})");
}

TEST(McpStateless, HasNoMethodsOfTheOtherEra) {
  Speaker one;
  for (const char* method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "x"}) {
    EXPECT_EQ(code_of(one.reply(request(method, meta))), -32601) << method;
    EXPECT_EQ(one.status(request(method, meta)), 404U) << method;
  }
}

TEST(McpStateless, ComparesTheHeadersWithTheMessage) {
  const std::string call =
      request("tools/call", std::string{R"("name":"echo","arguments":{"text":"x"},)"} + meta);
  struct Row {
    HttpHeaders headers;
    bool is_served;
  };
  const std::vector<Row> rows{
      {{"2026-07-28", "tools/call", "echo"}, true},
      {{std::nullopt, "tools/call", "echo"}, false},
      {{"2025-11-25", "tools/call", "echo"}, false},
      {{"2026-07-28", std::nullopt, "echo"}, false},
      {{"2026-07-28", "tools/list", "echo"}, false},
      {{"2026-07-28", "TOOLS/CALL", "echo"}, false},
      {{"2026-07-28", "tools/call", std::nullopt}, false},
      {{"2026-07-28", "tools/call", "Echo"}, false},
  };
  for (const auto& row : rows) {
    Speaker one;
    const auto step = one.take(call, &row.headers);
    EXPECT_EQ(std::holds_alternative<ToolCall>(step), row.is_served);
    if (row.is_served) continue;
    EXPECT_EQ(code_of(one.reply(call, &row.headers)), -32020);
    EXPECT_EQ(one.status(call, &row.headers), 400U);
  }
  // The header alone says which era it is.
  Speaker one;
  const HttpHeaders headers{"2026-07-28", "tools/list", {}};
  EXPECT_EQ(code_of(one.reply(request("tools/list", ""), &headers)), -32602);
}

TEST(McpStateless, AsksForInputAndGetsIt) {
  Speaker one;
  const auto step = one.take(request(
      "tools/call",
      std::string{
          R"("name":"echo","arguments":{"text":"x"},"inputResponses":{"a":{"action":"accept"}},"requestState":"s",)"} +
          meta));
  const auto* call = std::get_if<ToolCall>(&step);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->input_responses.dump(), R"({"a":{"action":"accept"}})");
  EXPECT_EQ(call->request_state, "s");
  EXPECT_EQ(call->client_capabilities.dump(), R"({"elicitation":{}})");
  const Json said = Json::parse(
      one.protocol.finish(*call, InputRequired{Json{{"b", Json{{"method", "x"}}}}, "t"}).text);
  const Json& result = object_of(said, "result");
  EXPECT_EQ(text_of(result, "resultType"), "input_required");
  EXPECT_EQ(object_of(result, "inputRequests").dump(), R"({"b":{"method":"x"}})");
  EXPECT_EQ(text_of(result, "requestState"), "t");
  EXPECT_EQ(one.protocol.finish(*call, RpcFault{RpcCode::missing_capability, "no", {}}).status,
            400U);
  EXPECT_EQ(one.protocol.finish(*call, RpcFault{RpcCode::internal_error, "no", {}}).status, 200U);
}

}  // namespace
