// UsageReader: what each API reports, in pieces of any size; texts of the agent do not count.
#include "proxy/http/usage.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile::http {
namespace {

using Form = UsageReader::Form;

struct Case {
  std::string_view name;
  Form form;
  std::uint64_t tokens;
  bool has_report;
  std::string body;
};

const std::string anthropic_stream =
    "event: message_start\n"
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":"
    "{\"input_tokens\":25,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":2000,"
    "\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"\\\"usage\\\":{\\\"output_tokens\\\":9999}\"}}\n\n"
    "event: message_delta\n"
    "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":15}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"anthropic", Form::json, 2140, true,
       R"({"id":"m","content":[{"type":"text","text":"a \"usage\": {"}],"usage":{"input_tokens":25,
          "cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":15,
          "cache_creation":{"ephemeral_5m_input_tokens":100},"service_tier":"standard"}})"},
      {"anthropic stream", Form::events, 2140, true, anthropic_stream},
      {"openai responses", Form::json, 123, true,
       R"({"object":"response","usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":
          7},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}
          })"},
      {"openai responses stream", Form::events, 48, true,
       "data: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\r\n\r\n"
       "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":37,"
       "\"output_tokens\":11,\"total_tokens\":48}}}\r\n\r\n"},
      {"openai chat", Form::json, 30, true,
       R"({"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}})"},
      {"openai chat stream with its done", Form::events, 30, true,
       "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\""
       ":20,\"completion_tokens\":10,\"total_tokens\":30}}\n\ndata: [DONE]\n\n"},
      {"gemini", Form::json, 1100, true,
       R"({"candidates":[],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":200,
          "thoughtsTokenCount":800,"totalTokenCount":1100,"promptTokensDetails":[{"tokenCount":1}]}
          })"},
      {"gemini without a total", Form::json, 1107, true,
       R"({"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":200,
          "thoughtsTokenCount":800,"toolUsePromptTokenCount":7}})"},
      {"gemini list", Form::json, 9, true,
       R"([{"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}},
          {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":5,"totalTokenCount":9}}])"},
      {"gemini stream", Form::events, 9, true,
       "data: {\"usageMetadata\":{\"totalTokenCount\":4}}\r\rdata:{\"usageMetadata\":"
       "{\"totalTokenCount\":9}}\r\r"},
      {"several data lines", Form::events, 5, true,
       "data: {\"usage\":\ndata: {\"input_tokens\":\ndata: 5}}\n\n"},
      {"the highest counts", Form::events, 12, true,
       "data: {\"usage\":{\"output_tokens\":12}}\n\ndata: {\"usage\":{\"output_tokens\":3}}\n\n"},
      {"without a newline at the end", Form::json, 7, true, R"({"usage":{"input_tokens":7}})"},
      // What a model or the agent writes is deeper, or a text.
      {"input of a tool", Form::json, 0, false,
       R"({"content":[{"type":"tool_use","input":{"usage":{"input_tokens":99}}}]})"},
      {"usage in a list", Form::json, 0, false, R"({"data":[{"usage":{"input_tokens":99}}]})"},
      {"list in an envelope", Form::json, 0, false,
       R"({"message":[{"usage":{"input_tokens":9}}]})"},
      {"envelope in an envelope", Form::json, 0, false,
       R"({"message":{"response":{"usage":{"input_tokens":9}}}})"},
      {"count outside of usage", Form::json, 0, false, R"({"input_tokens":99})"},
      {"count below usage", Form::json, 0, false, R"({"usage":{"x":{"input_tokens":99}}})"},
      {"key as a value", Form::json, 0, false, R"({"a":"usage","b":{"input_tokens":9}})"},
      {"not a number", Form::json, 0, false, R"({"usage":{"input_tokens":"99"}})"},
      {"negative", Form::json, 0, false, R"({"usage":{"input_tokens":-99}})"},
      {"too large", Form::json, std::uint64_t{1} << 40U, true,
       R"({"usage":{"input_tokens":99999999999999999999999999}})"},
      {"other fields of events", Form::events, 0, false,
       "event: {\"usage\":{\"input_tokens\":9}}\ndatas: {\"usage\":{\"input_tokens\":9}}\n"
       ": {\"usage\":{\"input_tokens\":9}}\n\n"},
      {"an event that never ends its text", Form::events, 3, true,
       "data: {\"a\":\"\n\ndata: {\"usage\":{\"input_tokens\":3}}\n\n"},
      {"too many closings", Form::json, 3, true, R"(}}]{"usage":{"input_tokens":3}})"},
      {"very deep", Form::json, 3, true,
       std::string(100000, '[') + std::string(100000, ']') + R"({"usage":{"input_tokens":3}})"},
      {"empty", Form::json, 0, false, ""},
  };
  return all;
}

TEST(UsageReader, ReadsWhatTheAnswerReports) {
  for (const Case& one : cases()) {
    UsageReader reader{one.form};
    reader.feed(one.body);
    EXPECT_EQ(reader.tokens(), one.tokens) << one.name;
    EXPECT_EQ(reader.has_report(), one.has_report) << one.name;
  }
}

TEST(UsageReader, CutAtEachByteItReadsTheSame) {
  for (const Case& one : cases()) {
    if (one.body.size() > 4096) continue;
    for (std::size_t cut = 0; cut <= one.body.size(); ++cut) {
      UsageReader reader{one.form};
      reader.feed(std::string_view{one.body}.substr(0, cut));
      reader.feed(std::string_view{one.body}.substr(cut));
      EXPECT_EQ(reader.tokens(), one.tokens) << one.name << " at " << cut;
      EXPECT_EQ(reader.has_report(), one.has_report) << one.name << " at " << cut;
    }
  }
}

TEST(UsageReader, AUsageThatIsNullIsUnfinished) {
  UsageReader reader{Form::json};
  reader.feed(R"({"status":"queued","usage":null})");
  EXPECT_TRUE(reader.is_unfinished());
  UsageReader nested{Form::json};
  nested.feed(R"({"a":{"usage":null},"b":null})");
  EXPECT_FALSE(nested.is_unfinished());
}

TEST(UsageReader, WhatIsReportedBeforeAStreamIsCutCounts) {
  UsageReader reader{Form::events};
  reader.feed(std::string_view{anthropic_stream}.substr(0, anthropic_stream.find("event: ping")));
  EXPECT_EQ(reader.tokens(), 2126U);
}

}  // namespace
}  // namespace stile::http
