// GraphQL: one query passes, and nothing else.
#include "proxy/http/graphql.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile::http {
namespace {

// A body with that document.
std::string body_of(std::string_view document) {
  std::string out = R"({"query":")";
  for (const char c : document) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + R"("})";
}

TEST(Graphql, PassesOneQuery) {
  for (const std::string_view document : {
           "{ viewer { login } }",
           "query { viewer { login } }",
           "query Name($a: [String!]! = [\"x\"], $b: In = {c: {d: 1}}) @x(y: {z: 1}) { a(b: $b) { "
           "c } }",
           "fragment F on User { login } query { viewer { ...F } }",
           "query { a } fragment F on User { login } fragment G on User { id }",
           "# { x }\nquery { a # } clientMutationId\n }",
           "query { a(text: \"} mutations { x }\") }",
           "query { a(text: \"\\\"} _mutation { x\") }",
           "query { a(text: \"\"\"} { x \\\"\"\" \" \"\"\") }",
           ",query,{,a,},",
           "query { a(n: -1.5e+3, l: [1, 2], o: {p: $v}) @include(if: true) { b: c ... on T { d } "
           "} }",
       }) {
    EXPECT_EQ(fault_of_graphql(body_of(document)), "") << document;
  }
}

TEST(Graphql, RefusesLoneCarriageReturnsAndControlCharacters) {
  EXPECT_NE(fault_of_graphql(R"({"query":"{ a }#\r{ b }"})"), "");
  EXPECT_NE(fault_of_graphql(R"({"query":"{ a\u0000 }"})"), "");
  EXPECT_EQ(fault_of_graphql(R"({"query":"{ a }\r\n"})"), "");
}

TEST(Graphql, RefusesWhatWritesOrIsSeveral) {
  for (const std::string_view document : {
           // Servers differ in where these comments and strings end.
           "# mutation { x }\nquery { a }",
           "query { a(text: \"} mutation { x }\") }",
           "query mutation { subscription }",
           "query{a(x:\"\"\"a\"\"\"\"\"\" mutation m{b} \")}",
           "mutation { addStar(input: {}) { clientMutationId } }",
           "subscription { a }",
           "query { a } mutation { b }",
           "mutation { b } query { a }",
           "query A { a } query B { b }",
           "{ a } { b }",
           "{ a } mutation { b }",
           "fragment F on User { login }",
           "",
           "# nothing",
           "query",
           "query { a",
           "query { a } }",
           "query ( { a } )",
           "query { a(text: \"x\n\") } mutation { b }",
           "query { a(text: \"\"\" ) } mutation { b }",
           "query { a ] }",
           "type Query { a: Int }",
           "extend type Query { a: Int }",
           "schema { query: Q }",
           "query { a } x",
           "query { \\ }",
           "\xef\xbb\xbf{ a }",
       }) {
    EXPECT_NE(fault_of_graphql(body_of(document)), "") << document;
  }
}

TEST(Graphql, ReadsTheBodyStrictly) {
  for (const std::string_view body :
       {R"({"query":"{a}"})",
        R"( { "query" : "{a}" , "variables" : {"x":[1,{"y":null}],"z":"}"} } )",
        R"({"variables":{},"query":"{a}","operationName":null})", R"({"query":"\u007b a \u007d"})",
        R"({"\u0071uery":"{a}"})"}) {
    EXPECT_EQ(fault_of_graphql(body), "") << body;
  }
  for (const std::string_view body : {"",
                                      "{}",
                                      "[]",
                                      R"([{"query":"{a}"}])",
                                      R"({"query":"{a}","query":"mutation{b}"})",
                                      R"({"query":"{a}","\u0071uery":"mutation{b}"})",
                                      R"({"query":"{a}","Query":"mutation{b}"})",
                                      R"({"query":"{a}","extensions":{}})",
                                      R"({"query":null})",
                                      R"({"query":["{a}"]})",
                                      R"({"query":"{a}"} x)",
                                      R"({"query":"{a}"}{"query":"mutation{b}"})",
                                      R"({"query":"{a}",})",
                                      R"({"query":"\u006dutation{b}"})",
                                      R"({"query":"{a}","variables":{"x":})",
                                      R"({"query":"{a}","variables":{"x" 1}})",
                                      R"({"query":"{a}","variables":[1 2]})",
                                      R"({"query":"{a}","variables":{1:2}})",
                                      R"({query:"{a}"})",
                                      R"({'query':'{a}'})",
                                      "{\"query\":\"{a\n}\"}",
                                      R"({"query":"{a}\x"})",
                                      "query{a}",
                                      R"({"query":"{a}")"}) {
    EXPECT_NE(fault_of_graphql(body), "") << body;
  }
}

TEST(Graphql, HasBounds) {
  EXPECT_EQ(fault_of_graphql(body_of("{ a(b: \"" + std::string(60'000, 'x') + "\") }")), "");
  EXPECT_NE(fault_of_graphql(body_of("{ a(b: \"" + std::string(66'000, 'x') + "\") }")), "");
  EXPECT_EQ(fault_of_graphql(body_of(std::string(60, '{') + "a" + std::string(60, '}'))), "");
  EXPECT_NE(fault_of_graphql(body_of(std::string(70, '{') + "a" + std::string(70, '}'))), "");
  const std::string deep =
      R"({"query":"{a}","variables":)" + std::string(70, '[') + std::string(70, ']') + "}";
  EXPECT_NE(fault_of_graphql(deep), "");
}

// Nothing passes that ends too early.
TEST(Graphql, IsCutAtEveryByte) {
  const std::string body = R"({"query":"query { a(b: \"c\") { d } }","variables":{"x":[1]}})";
  ASSERT_EQ(fault_of_graphql(body), "");
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_NE(fault_of_graphql(std::string_view{body}.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace stile::http
