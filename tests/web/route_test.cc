// Routes: each path, each method, and the names in a path.
#include "web/route.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

struct Case {
  Method method;
  std::string_view path;
  Endpoint endpoint;
  std::string_view action = {}, name = {};
};

TEST(FindRoute, KnowsEachPathAndMethod) {
  using enum Endpoint;
  const std::vector<Case> cases{
      {Method::get, "/", asset},
      {Method::get, "/style.css", asset},
      {Method::post, "/", other_method},
      {Method::other, "/main.js", other_method},
      {Method::get, "/index.html", none},
      {Method::get, "/../main.js", none},
      {Method::get, "/%6dain.js", none},
      {Method::post, "/api/v1/login", login},
      {Method::get, "/api/v1/login", other_method},
      {Method::get, "/api/v1/events", events},
      {Method::get, "/api/v1/policy", control, "agents"},
      {Method::get, "/api/v1/policy/alpha", control, "agent", "alpha"},
      {Method::post, "/api/v1/policy/alpha", other_method},
      {Method::post, "/api/v1/policy/alpha/allow", control, "allow", "alpha"},
      {Method::get, "/api/v1/policy/alpha/allow", other_method},
      {Method::post, "/api/v1/policy/a-1/mode", control, "mode", "a-1"},
      {Method::post, "/api/v1/mode", control, "mode"},
      {Method::post, "/api/v1/asks/q_1/answer", control, "answer", "q_1"},
      {Method::get, "/api/v1/config", control, "config"},
      {Method::post, "/api/v1/config", other_method},
      {Method::post, "/api/v1/config/check", check},
      {Method::post, "/api/v1/config/apply", none},
      {Method::post, "/api/v1/agents/spawn", workers, "spawn"},
      {Method::get, "/api/v1/agents/spawn", workers, "one", "spawn"},
      {Method::get, "/api/v1/agents/active", workers, "active"},
      {Method::get, "/api/v1/agents/status", workers, "status"},
      {Method::post, "/api/v1/agents/stop-all", workers, "stop-all"},
      {Method::get, "/api/v1/agents/alpha", workers, "one", "alpha"},
      {Method::post, "/api/v1/agents/alpha/stop", workers, "stop", "alpha"},
      {Method::get, "/api/v1/agents/alpha/stop", other_method},
      {Method::get, "/api/v1/agents/events", worker_events},
      {Method::get, "/agents/alpha", none},
      {Method::get, "/agents//tasks", none},
      {Method::get, "/agents/a%2fb/tasks", none},
      {Method::get, "/agents/../api/v1/status", none},
      // A name is one segment of harmless bytes.
      {Method::post, "/api/v1/policy//allow", none},
      {Method::post, "/api/v1/policy/a/b/allow", none},
      {Method::post, "/api/v1/policy/a%22/allow", none},
      {Method::post, "/api/v1/policy/a\"/allow", none},
      {Method::get, "/api/v1/policy/", none},
      // What a page may not do.
      {Method::post, "/api/v1/drain", none},
      {Method::post, "/api/v1/policy/alpha/put-agent", none},
      {Method::post, "/api/v1/policy/alpha/remove-agent", none},
  };
  for (const auto& one : cases) {
    const auto route = find_route(one.method, one.path);
    EXPECT_EQ(route.endpoint, one.endpoint) << one.path;
    if (one.endpoint != control && one.endpoint != workers) continue;
    EXPECT_EQ(route.action, one.action) << one.path;
    EXPECT_EQ(route.name, one.name) << one.path;
  }
}

TEST(FindRoute, LeavesThePathBelowAWorkerToA2a) {
  for (const auto method : {Method::get, Method::post, Method::other}) {
    const auto route = find_route(method, "/agents/alpha-1/tasks/5-1:cancel");
    EXPECT_EQ(route.endpoint, Endpoint::a2a);
    EXPECT_EQ(route.name, "alpha-1");
    EXPECT_EQ(route.rest, "/tasks/5-1:cancel");
  }
  EXPECT_EQ(find_route(Method::get, "/agents/alpha/").rest, "/");
}

TEST(FindRoute, RefusesALongName) {
  const auto path = "/api/v1/policy/" + std::string(65, 'a');
  EXPECT_EQ(find_route(Method::get, path).endpoint, Endpoint::none);
  EXPECT_EQ(find_route(Method::get, path.substr(0, path.size() - 1)).endpoint, Endpoint::control);
}

}  // namespace
}  // namespace stile::web
