// Arguments of tools: what is wrong with them, in words that a model can use.
#include "mcp/schema_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace stile;
using mcp::schema_problem;

namespace {

TEST(McpSchemaCheck, NamesTheFirstProblem) {
  const Json schema = Json::parse(R"({"type":"object","additionalProperties":false,
    "properties":{"worker":{"type":"string","minLength":1,"maxLength":4},
                  "wait":{"type":"integer","minimum":1,"maximum":9},
                  "kind":{"type":"string","enum":["a","b"]},
                  "flag":{"type":"boolean"},
                  "one":{"const":7},
                  "tags":{"type":"array","maxItems":2,"items":{"type":"string"}},
                  "limits":{"type":"object","additionalProperties":{"type":"integer"}}},
    "required":["worker"]})");
  struct Row {
    const char* value;
    std::string problem;
  };
  const std::vector<Row> rows{
      {R"({"worker":"a"})", ""},
      {R"({"worker":"abcd","wait":9,"kind":"b","flag":false,"one":7,"tags":["x","y"],"limits":{"m":1}})",
       ""},
      {R"({})", "worker is missing"},
      {R"([])", "expected an object"},
      {R"({"worker":7})", "worker: expected a string"},
      {R"({"worker":""})", "worker: must not be empty"},
      {R"({"worker":"abcde"})", "worker: at most 4 bytes"},
      {R"({"worker":"a","wait":0})", "wait: at least 1"},
      {R"({"worker":"a","wait":-5})", "wait: at least 1"},
      {R"({"worker":"a","wait":10})", "wait: at most 9"},
      {R"({"worker":"a","wait":1.5})", "wait: expected an integer"},
      {R"({"worker":"a","kind":"c"})", "kind: expected one of a, b"},
      {R"({"worker":"a","flag":"true"})", "flag: expected a boolean"},
      {R"({"worker":"a","one":8})", "one: expected 7"},
      {R"({"worker":"a","tags":["x","y","z"]})", "tags: at most 2 items"},
      {R"({"worker":"a","tags":["x",1]})", "tags[1]: expected a string"},
      {R"({"worker":"a","limits":{"m":"1"}})", "limits.m: expected an integer"},
      {R"({"worker":"a","wiat":1})", "there is no 'wiat'; did you mean 'wait'?"},
      {R"({"worker":"a","\u001b[2J":1})", "there is no '\\x1b[2J'"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(schema_problem(schema, Json::parse(row.value)), row.problem) << row.value;
  }
}

}  // namespace
