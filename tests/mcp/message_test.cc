// Messages of clients: read strictly, and within bounds.
#include "mcp/message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace stile;
using namespace stile::mcp;

namespace {

constexpr std::string_view whole_request =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,"b"]}}})";

TEST(McpMessage, ReadsRequestsNotificationsAndResponses) {
  const auto request = parse_message(whole_request);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->kind, RpcMessage::Kind::request);
  EXPECT_EQ(request->method, "tools/call");
  EXPECT_EQ(request->id.number(), 7U);
  EXPECT_EQ(text_of(request->params, "name"), "x");
  const auto note = parse_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->kind, RpcMessage::Kind::notification);
  EXPECT_TRUE(note->params.is_null());
  const auto response = parse_message(R"({"jsonrpc":"2.0","id":"a","result":{}})");
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->kind, RpcMessage::Kind::response);
}

TEST(McpMessage, RefusesWhatIsAlmostValid) {
  struct Row {
    std::string text;
    RpcCode code;
    std::string id;  // that the answer names
  };
  const std::vector<Row> rows{
      {"", RpcCode::parse_error, "null"},
      {"{", RpcCode::parse_error, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"} x)", RpcCode::parse_error, "null"},
      // Two readers could take a different one.
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", RpcCode::parse_error, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}})",
       RpcCode::parse_error, "null"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", RpcCode::invalid_request, "null"},
      {"7", RpcCode::invalid_request, "null"},
      {R"({"id":1,"method":"ping"})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", RpcCode::invalid_request, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", RpcCode::invalid_request, "null"},
      {R"({"jsonrpc":"2.0","id":[],"method":"ping"})", RpcCode::invalid_request, "null"},
      {R"({"jsonrpc":"2.0","id":1})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"2.0","id":1,"result":1,"error":2})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":""})", RpcCode::invalid_request, "1"},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":[]})", RpcCode::invalid_request,
       "\"a\""},
  };
  for (const auto& row : rows) {
    const auto read = parse_message(row.text);
    ASSERT_FALSE(read.has_value()) << row.text;
    EXPECT_EQ(read.error().fault.code, row.code) << row.text;
    EXPECT_EQ(read.error().id.dump(), row.id) << row.text;
  }
}

TEST(McpMessage, HasBounds) {
  const auto with = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + params + "}}";
  };
  const auto nested = [&](std::size_t depth) {
    return with(std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_TRUE(parse_message(nested(Json::max_depth - 2)).has_value());
  EXPECT_FALSE(parse_message(nested(Json::max_depth - 1)).has_value());
  EXPECT_FALSE(parse_message(std::string(max_message_bytes, '[')).has_value());
  const auto text_of_size = [&](std::size_t size) {
    const auto empty = with("\"\"").size();
    return with('"' + std::string(size - empty, 'x') + '"');
  };
  EXPECT_TRUE(parse_message(text_of_size(max_message_bytes)).has_value());
  EXPECT_FALSE(parse_message(text_of_size(max_message_bytes + 1)).has_value());
  const auto numbers = [&](std::size_t count) {
    std::string list = "[0";
    for (std::size_t i = 1; i < count; ++i) list += ",0";
    return with(list + ']');
  };
  const std::size_t others = 6;  // the message, its three members, params, the list
  EXPECT_TRUE(parse_message(numbers(max_message_values - others)).has_value());
  EXPECT_FALSE(parse_message(numbers(max_message_values - others + 1)).has_value());
  const auto with_id = [](std::size_t size) {
    return R"({"jsonrpc":"2.0","method":"m","id":")" + std::string(size, 'x') + "\"}";
  };
  EXPECT_TRUE(parse_message(with_id(max_id_bytes)).has_value());
  EXPECT_FALSE(parse_message(with_id(max_id_bytes + 1)).has_value());
}

TEST(McpMessage, CutAtEachByteIsNoMessage) {
  for (std::size_t size = 0; size < whole_request.size(); ++size) {
    EXPECT_FALSE(parse_message(whole_request.substr(0, size)).has_value()) << size;
  }
}

TEST(McpMessage, WritesOneLine) {
  EXPECT_EQ(result_text("a", Json{{"text", "line\nline \x1b[2J"}}),
            R"({"jsonrpc":"2.0","id":"a","result":{"text":"line\nline \u001b[2J"}})");
  EXPECT_EQ(fault_text({}, {RpcCode::parse_error, "no", {}}),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}})");
  EXPECT_EQ(fault_text(3, {RpcCode::missing_capability, "no", Json{{"a", 1}}}),
            R"({"jsonrpc":"2.0","id":3,"error":{"code":-32021,"message":"no","data":{"a":1}}})");
  EXPECT_EQ(notification_text("notifications/x", Json::object()),
            R"({"jsonrpc":"2.0","method":"notifications/x","params":{}})");
}

}  // namespace
