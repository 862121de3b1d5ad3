// What an answer costs: nothing that could use tokens is free unless it says so.
#include "proxy/http/token_charge.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace stile::http {
namespace {
namespace charges {

using Form = UsageReader::Form;

struct Case {
  std::string_view name;
  AnswerFacts facts;
  std::optional<Form> form;
  std::string_view body;
  std::uint64_t tokens;
  bool is_all;
};

constexpr std::string_view report = R"({"usage":{"input_tokens":300,"output_tokens":7}})";
constexpr std::string_view start =
    "data: {\"message\":{\"usage\":{\"input_tokens\":300,\"output_tokens\":1}}}\n\n";

//                            can spend, whole, body, stream, status, up, down
constexpr AnswerFacts posted{true, true, true, false, 200, 400, 1000};
constexpr AnswerFacts read{false, true, true, false, 200, 400, 1000};
constexpr AnswerFacts streamed{true, true, true, true, 200, 400, 1000};
constexpr AnswerFacts cut{true, false, true, false, 200, 400, 1000};
constexpr AnswerFacts cut_stream{true, false, true, true, 200, 400, 1000};

constexpr Case cases[] = {
    {"a report is believed", posted, Form::json, report, 307, true},
    {"also one that was only read", read, Form::json, report, 307, true},
    {"a list of models", read, Form::json, R"({"data":[]})", 0, true},
    {"count_tokens of Anthropic", posted, Form::json, R"({"input_tokens":2095})", 0, true},
    {"countTokens of Gemini", posted, Form::json, R"({"totalTokens":31})", 0, true},
    {"a file or a batch", posted, Form::json, R"({"id":"b","input":"x"})", 700, false},
    {"a count deeper", posted, Form::json, R"({"request_counts":{"input_tokens":0}})", 700, false},
    {"a count as a text", posted, Form::json, R"({"input_tokens":"0"})", 700, false},
    {"a count in a list", posted, Form::json, R"([{"input_tokens":0}])", 700, false},
    {"work that goes on", posted, Form::json, R"({"usage":null})", 700, false},
    {"another look at it", read, Form::json, R"({"usage":null})", 700, true},
    {"not readable", posted, {}, "", 700, false},
    {"a download", read, {}, "", 700, true},
    {"a stream without a report", streamed, Form::events, "data: {}\n\n", 450, false},
    {"a stream that ends like a count", streamed, Form::events, "data: {\"input_tokens\":1}\n\n",
     450, false},
    {"a stream that was cut", cut_stream, Form::events, start, 301 + 250, false},
    {"the same before its report", cut_stream, Form::events, "", 450, false},
    {"only an output", cut_stream, Form::events, "data: {\"usage\":{\"output_tokens\":9}}\n\n",
     9 + 450, false},
    {"an answer that was cut", cut, Form::json, report, 307 + 500, false},
    {"no answer", {true, false, false, false, 0, 400, 0}, {}, "", 200, false},
    {"an empty answer", {true, true, false, false, 204, 400, 100}, {}, "", 250, false},
    {"a HEAD", {false, true, false, false, 200, 400, 100}, {}, "", 0, true},
    {"an error", {true, true, true, false, 429, 400, 1000}, Form::json, "{}", 0, true},
    {"an error that was cut", {true, false, true, false, 529, 400, 1000}, Form::json, "", 0, true},
    {"nothing was sent", {true, false, false, false, 0, 0, 0}, {}, "", 0, true},
};

TEST(TokenCharge, IsTheReportOrAnEstimate) {
  for (const Case& one : cases) {
    std::optional<UsageReader> usage;
    if (one.form) {
      usage.emplace(*one.form);
      usage->feed(one.body);
    }
    const TokenCharge charge = token_charge(one.facts, usage ? &*usage : nullptr);
    EXPECT_EQ(charge.tokens, one.tokens) << one.name;
    EXPECT_EQ(charge.is_all, one.is_all) << one.name;
  }
}

// Ending a stream early must not be cheaper than what had been reported and seen by then.
TEST(TokenCharge, MoreThatIsSeenNeverCostsLess) {
  std::string stream{start};
  for (int i = 0; i < 20; ++i) stream += "data: {\"delta\":{\"text\":\"hello\"}}\n\n";
  stream += "data: {\"usage\":{\"output_tokens\":40}}\n\n";
  UsageReader usage{Form::events};
  std::uint64_t before = 0;
  AnswerFacts facts = cut_stream;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    usage.feed(std::string_view{stream}.substr(i, 1));
    facts.bytes_down = i + 1;
    const std::uint64_t tokens = token_charge(facts, &usage).tokens;
    EXPECT_GE(tokens, usage.tokens());
    // The report of the input replaces an estimate of it, once.
    EXPECT_TRUE(tokens >= before || usage.tokens() <= 300) << i;
    before = tokens;
  }
}

}  // namespace charges
}  // namespace
}  // namespace stile::http
