// needed_requests: capabilities and entries for what was done inside opened tunnels.
#include "cli/needed_requests.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/allowlist.h"
#include "tests/cli/log_file.h"

namespace stile::cli {
namespace {

using Names = std::vector<std::string>;

const config::Capabilities& shipped() {
  static const auto loaded =
      config::Capabilities::load({std::string{STILE_ROOT} + "/capabilities"}, ::geteuid());
  EXPECT_TRUE(loaded) << loaded.error().text();
  return *loaded;
}

NeededRequest seen(std::string host, std::string method, std::string path) {
  return {std::move(host), 443, std::move(method), std::move(path), 1, 0};
}

Names can_of(const std::vector<NeededRequest>& needed) {
  Names names;
  for (const auto& can : cover_requests(needed, &shipped()).can) names.push_back(can.text);
  return names;
}

TEST(NeededRequests, AreCoveredByCapabilities) {
  const struct {
    std::vector<NeededRequest> needed;
    Names can;
  } cases[] = {
      {{seen("api.anthropic.com", "POST", "/v1/messages")}, {"anthropic:messages"}},
      {{seen("registry.npmjs.org", "GET", "/left-pad"),
        seen("registry.npmjs.org", "GET", "/left-pad/-/left-pad-1.3.0.tgz")},
       {"npm:install"}},
      {{seen("pypi.org", "GET", "/simple/requests/"),
        seen("files.pythonhosted.org", "GET", "/packages/aa/bb/cc/r-1.0-py3-none-any.whl")},
       {"pypi:install"}},
      {{seen("github.com", "GET", "/acme/app.git/info/refs"),
        seen("github.com", "POST", "/acme/app.git/git-upload-pack")},
       {"git:fetch github.com/acme/app"}},
      {{seen("api.github.com", "GET", "/repos/acme/app/issues"),
        seen("api.github.com", "GET", "/repos/acme/app"),
        seen("codeload.github.com", "GET", "/acme/app/zip/main")},
       {"github:read acme/app"}},
      {{seen("api.github.com", "GET", "/repos/acme/one"),
        seen("api.github.com", "GET", "/repos/acme/two")},
       {"github:read acme/one", "github:read acme/two"}},
      {{seen("registry-1.docker.io", "GET", "/v2/library/alpine/manifests/latest"),
        seen("auth.docker.io", "GET", "/token")},
       {"docker:pull library/alpine"}},
      {{seen("huggingface.co", "GET", "/acme/model/resolve/main/config.json")},
       {"huggingface:download acme/model"}},
  };
  for (const auto& [needed, can] : cases) {
    EXPECT_EQ(can_of(needed), can);
    EXPECT_TRUE(cover_requests(needed, &shipped()).requests.empty()) << can.front();
  }
}

TEST(NeededRequests, AParameterIsNeverGuessed) {
  // Every repository's capability allows this one: nothing says which is meant.
  EXPECT_EQ(can_of({seen("api.github.com", "GET", "/rate_limit")}), Names{});
}

TEST(NeededRequests, WhatNoCapabilityCoversGetsAnEntry) {
  const auto suggested = cover_requests(
      {seen("api.corp.test", "GET", "/a"), seen("api.corp.test", "HEAD", "/b"),
       seen("api.corp.test", "POST", "/a"), seen("api.anthropic.com", "POST", "/v1/files")},
      &shipped());
  EXPECT_TRUE(suggested.can.empty());
  ASSERT_EQ(suggested.requests.size(), 3U);
  EXPECT_EQ(suggested.requests[1].host, "api.corp.test");
  EXPECT_EQ(suggested.requests[1].methods, (Names{"GET", "HEAD"}));
  EXPECT_EQ(suggested.requests[1].paths, (Names{"/a", "/b"}));
  EXPECT_EQ(suggested.requests[2].methods, Names{"POST"});
}

TEST(NeededRequests, ManyPathsBecomeOnePrefix) {
  std::vector<NeededRequest> needed;
  for (int i = 0; i < 50; ++i) {
    needed.push_back(seen("api.corp.test", "GET", "/v1/users/" + std::to_string(i) + "/mail"));
  }
  const auto suggested = cover_requests(needed, nullptr);
  ASSERT_EQ(suggested.requests.size(), 1U);
  EXPECT_EQ(suggested.requests[0].paths, Names{"/v1/users/**"});
  EXPECT_EQ(suggested.requests[0].let_through, 50U);
}

TEST(NeededRequests, APathThatLooksLikeAPatternIsNotSuggested) {
  for (const char* path : {"/a/*", "/**", "/a/../b", "//a"}) {
    const auto suggested = cover_requests({seen("api.corp.test", "GET", path)}, nullptr);
    EXPECT_TRUE(suggested.requests.empty()) << path;
    EXPECT_EQ(suggested.remarks.size(), 1U) << path;
  }
}

TEST(NeededRequests, APushNeedsThePersonToNameTheRefs) {
  const auto suggested =
      cover_requests({seen("github.com", "POST", "/acme/app.git/git-receive-pack")}, &shipped());
  EXPECT_TRUE(suggested.can.empty() && suggested.requests.empty());
  ASSERT_EQ(suggested.remarks.size(), 1U);
  EXPECT_NE(suggested.remarks[0].find("git:push github.com/acme/app REF"), std::string::npos);
}

void add_inside(LogFile& log, const std::string& method, const std::string& path,
                const std::string& verdict, const std::string& reason = {}) {
  log.add("\"event\":\"" + std::string{verdict == "deny" ? "deny" : "open"} +
          R"(","agent":"alpha","src":"10.0.0.9:40000","method":")" + method +
          R"(","scheme":"https","host":"api.corp.test","port":443,"path":")" + path +
          R"(","verdict":")" + verdict + '"' +
          (reason.empty() ? "" : ",\"reason\":\"" + reason + '"'));
}

TEST(NeededRequests, ReplaceTheBareNameOfAnOpenedHost) {
  LogFile log;
  add_inside(log, "GET", "/a", "allow");
  add_inside(log, "GET", "/a", "would-deny", "path-not-allowed");
  add_inside(log, "PUT", "/b", "deny", "method-not-allowed");
  add_inside(log, "GET", "/secret", "deny", "secret-found");
  log.request("alpha", "sealed.test", 443, "allow");
  const auto lists = make_allowlists(log.seen(), {});
  ASSERT_EQ(lists.size(), 1U);
  ASSERT_EQ(lists[0].allow.size(), 1U);
  EXPECT_EQ(lists[0].allow[0].pattern, "sealed.test");
  ASSERT_EQ(lists[0].inside.requests.size(), 2U);
  EXPECT_EQ(lists[0].inside.requests[0].paths, Names{"/a"});
  EXPECT_EQ(lists[0].inside.requests[0].let_through, 2U);
  EXPECT_EQ(lists[0].inside.requests[1].methods, Names{"PUT"});
  EXPECT_EQ(lists[0].inside.requests[1].refused, 1U);
}

}  // namespace
}  // namespace stile::cli
