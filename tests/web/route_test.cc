// Routes: each path, each method, and the names in a path.
#include "web/route.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

struct Case {
  WebMethod method;
  std::string_view path;
  WebEndpoint endpoint;
  std::string_view action = {}, name = {};
};

TEST(FindRoute, KnowsEachPathAndMethod) {
  using enum WebEndpoint;
  const std::vector<Case> cases{
      {WebMethod::get, "/", asset},
      {WebMethod::get, "/style.css", asset},
      {WebMethod::post, "/", other_method},
      {WebMethod::other, "/main.js", other_method},
      {WebMethod::get, "/index.html", none},
      {WebMethod::get, "/../main.js", none},
      {WebMethod::get, "/%6dain.js", none},
      {WebMethod::post, "/api/v1/login", login},
      {WebMethod::get, "/api/v1/login", other_method},
      {WebMethod::get, "/api/v1/events", events},
      {WebMethod::get, "/api/v1/policy", control, "agents"},
      {WebMethod::get, "/api/v1/policy/alpha", control, "agent", "alpha"},
      {WebMethod::post, "/api/v1/policy/alpha", other_method},
      {WebMethod::post, "/api/v1/policy/alpha/allow", control, "allow", "alpha"},
      {WebMethod::get, "/api/v1/policy/alpha/allow", other_method},
      {WebMethod::post, "/api/v1/policy/a-1/mode", control, "mode", "a-1"},
      {WebMethod::post, "/api/v1/mode", control, "mode"},
      {WebMethod::post, "/api/v1/asks/q_1/answer", control, "answer", "q_1"},
      {WebMethod::get, "/api/v1/config", control, "config"},
      {WebMethod::post, "/api/v1/config", other_method},
      {WebMethod::post, "/api/v1/config/check", check},
      {WebMethod::post, "/api/v1/config/apply", none},
      {WebMethod::post, "/api/v1/agents/spawn", workers, "spawn"},
      {WebMethod::get, "/api/v1/agents/spawn", workers, "one", "spawn"},
      {WebMethod::get, "/api/v1/agents/active", workers, "active"},
      {WebMethod::get, "/api/v1/agents/status", workers, "status"},
      {WebMethod::post, "/api/v1/agents/stop-all", workers, "stop-all"},
      {WebMethod::get, "/api/v1/agents/alpha", workers, "one", "alpha"},
      {WebMethod::post, "/api/v1/agents/alpha/stop", workers, "stop", "alpha"},
      {WebMethod::get, "/api/v1/agents/alpha/stop", other_method},
      {WebMethod::get, "/api/v1/agents/events", worker_events},
      {WebMethod::get, "/agents/alpha", none},
      {WebMethod::get, "/agents//tasks", none},
      {WebMethod::get, "/agents/a%2fb/tasks", none},
      {WebMethod::get, "/agents/../api/v1/status", none},
      // A name is one segment of harmless bytes.
      {WebMethod::post, "/api/v1/policy//allow", none},
      {WebMethod::post, "/api/v1/policy/a/b/allow", none},
      {WebMethod::post, "/api/v1/policy/a%22/allow", none},
      {WebMethod::post, "/api/v1/policy/a\"/allow", none},
      {WebMethod::get, "/api/v1/policy/", none},
      // What a page may not do.
      {WebMethod::post, "/api/v1/drain", none},
      {WebMethod::post, "/api/v1/policy/alpha/put-agent", none},
      {WebMethod::post, "/api/v1/policy/alpha/remove-agent", none},
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
  for (const auto method : {WebMethod::get, WebMethod::post, WebMethod::other}) {
    const auto route = find_route(method, "/agents/alpha-1/tasks/5-1:cancel");
    EXPECT_EQ(route.endpoint, WebEndpoint::a2a);
    EXPECT_EQ(route.name, "alpha-1");
    EXPECT_EQ(route.rest, "/tasks/5-1:cancel");
  }
  EXPECT_EQ(find_route(WebMethod::get, "/agents/alpha/").rest, "/");
}

TEST(FindRoute, RefusesALongName) {
  const auto path = "/api/v1/policy/" + std::string(65, 'a');
  EXPECT_EQ(find_route(WebMethod::get, path).endpoint, WebEndpoint::none);
  EXPECT_EQ(find_route(WebMethod::get, path.substr(0, path.size() - 1)).endpoint,
            WebEndpoint::control);
}

}  // namespace
}  // namespace stile::web
