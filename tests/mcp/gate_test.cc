// Which HTTP requests are served: by host, origin and token; and the sessions of clients.
#include "mcp/gate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace stile;
using namespace stile::mcp;

namespace {

constexpr const char* token = "0123456789abcdef";

TEST(McpGate, ServesOnlyItsOwnNamesWithTheToken) {
  const Gate gate{{{"http", "127.0.0.1:8129"}, {"http", "localhost:8129"}}, token};
  const std::string good = std::string{"Bearer "} + token;
  struct Row {
    const char* why;
    McpCredentials given;
    unsigned status;
  };
  const std::vector<Row> rows{
      {"a program", {{"127.0.0.1:8129"}, {}, good}, 200},
      {"by name", {{"localhost:8129"}, {}, good}, 200},
      {"the scheme has no case", {{"localhost:8129"}, {}, std::string{"bearer "} + token}, 200},
      {"a page of its own", {{"127.0.0.1:8129"}, {"http://127.0.0.1:8129"}, good}, 200},
      {"DNS rebinding", {{"evil.example:8129"}, {}, good}, 403},
      {"another port", {{"127.0.0.1:80"}, {}, good}, 403},
      {"no host", {{}, {}, good}, 403},
      {"two hosts", {{"127.0.0.1:8129", "evil.example"}, {}, good}, 403},
      {"a foreign page", {{"127.0.0.1:8129"}, {"https://evil.example"}, good}, 403},
      {"a sandboxed page", {{"127.0.0.1:8129"}, {"null"}, good}, 403},
      {"own name, other port", {{"127.0.0.1:8129"}, {"http://127.0.0.1:80"}, good}, 403},
      {"no token", {{"127.0.0.1:8129"}, {}, ""}, 401},
      {"an empty token", {{"127.0.0.1:8129"}, {}, "Bearer "}, 401},
      {"a prefix", {{"127.0.0.1:8129"}, {}, good.substr(0, good.size() - 1)}, 401},
      {"one byte more", {{"127.0.0.1:8129"}, {}, good + "0"}, 401},
      {"another scheme", {{"127.0.0.1:8129"}, {}, std::string{"Basic "} + token}, 401},
      {"without a scheme", {{"127.0.0.1:8129"}, {}, token}, 401},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(gate.judge(row.given).status, row.status) << row.why;
  }
}

TEST(McpGate, TokensHaveAShape) {
  EXPECT_EQ(token_problem(token), "");
  EXPECT_EQ(token_problem(std::string(512, 'x')), "");
  for (const auto& bad : {std::string(15, 'x'), std::string(513, 'x'),
                          std::string{"0123456789 abcdef"}, std::string{"0123456789abcde\n"}}) {
    EXPECT_NE(token_problem(bad), "") << bad;
  }
}

TEST(McpSessions, EndTheOneThatIsUnusedForLongest) {
  McpSessions sessions;
  EXPECT_EQ(sessions.find(""), nullptr);
  const auto first = sessions.open({"2025-11-25", {}});
  const auto second = sessions.open({"2025-06-18", {}});
  EXPECT_NE(first, second);
  for (std::size_t i = 2; i < McpSessions::max_sessions; ++i) {
    EXPECT_FALSE(sessions.open({"2025-11-25", {}}).empty());
  }
  ASSERT_NE(sessions.find(first), nullptr);  // now the second one is the oldest
  EXPECT_FALSE(sessions.open({"2025-11-25", {}}).empty());
  EXPECT_EQ(sessions.find(second), nullptr);
  ASSERT_NE(sessions.find(first), nullptr);
  EXPECT_EQ(sessions.find(first)->version, "2025-11-25");
  EXPECT_TRUE(sessions.close(first));
  EXPECT_FALSE(sessions.close(first));
  EXPECT_EQ(sessions.find(first), nullptr);
}

}  // namespace
