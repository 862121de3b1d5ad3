// Control requests: one line, one action, whatever a page sends.
#include "web/control_request.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

const Route allow{WebEndpoint::control, "allow", "agent", "alpha"};

TEST(ControlLine, AddsActionAndAgentToTheFields) {
  EXPECT_EQ(*control_line(allow, R"({"hosts":["a.test"],"ttl_seconds":600})"),
            R"({"action":"allow","agent":"alpha","hosts":["a.test"],"ttl_seconds":600})");
  EXPECT_EQ(*control_line({WebEndpoint::control, "status", {}, {}}, ""), R"({"action":"status"})");
}

TEST(ControlLine, CannotNameAnotherActionOrAgent) {
  for (const auto* body :
       {R"({"action":"drain"})", R"({"agent":"beta"})", R"({"\u0061ction":"drain"})"}) {
    EXPECT_FALSE(control_line(allow, body)) << body;
  }
  const Route answer{WebEndpoint::control, "answer", "ask", "q1"};
  EXPECT_FALSE(control_line(answer, R"({"ask":"q2"})"));
}

TEST(ControlLine, IsOneLine) {
  const auto line = control_line(allow, "{\"reason\":\n\"a\\nb\"\n}");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->find('\n'), std::string::npos);
  for (const auto* body : {"{}\n{\"action\":\"drain\"}", "[]", "1", "{", "{}x", R"({"a":1,"a":2})",
                           "{\"a\":\"\xff\"}"}) {
    EXPECT_FALSE(control_line(allow, body)) << body;
  }
}

TEST(TextMember, IsTextOnly) {
  EXPECT_EQ(*text_member(R"({"token":"abc"})", "token"), "abc");
  for (const auto* body : {"", "{}", R"({"token":1})", R"({"token":["abc"]})", R"(["token"])"}) {
    EXPECT_FALSE(text_member(body, "token")) << body;
  }
}

}  // namespace
}  // namespace stile::web
