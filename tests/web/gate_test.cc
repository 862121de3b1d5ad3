// The gate: each attack, with everything else right.
#include "web/gate.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

const Sessions::Time gate_time{};
const std::vector<Origin> gate_origins{{"http", "127.0.0.1:9129"}, {"http", "localhost:9129"}};

class Gate : public testing::Test {
 protected:
  Gate() {
    const auto keys = sessions_.log_in(sessions_.new_token(gate_time), gate_time);
    good_ = {{"127.0.0.1:9129"}, "http://127.0.0.1:9129",
             "same-origin",      "application/json",
             keys->cookie,       keys->csrf};
  }
  Refusal post(const Credentials& given, Endpoint endpoint = Endpoint::control) {
    return judge(gate_origins, sessions_, Method::post, endpoint, given, gate_time);
  }
  Refusal get(const Credentials& given, Endpoint endpoint = Endpoint::control) {
    return judge(gate_origins, sessions_, Method::get, endpoint, given, gate_time);
  }
  Sessions sessions_;
  Credentials good_;
};

TEST_F(Gate, PassesABrowserThatLoggedIn) {
  EXPECT_EQ(post(good_), Refusal::none);
  EXPECT_EQ(get(good_), Refusal::none);
  good_.origin.reset();  // browsers leave it out of a GET
  EXPECT_EQ(get(good_), Refusal::none);
  good_.fetch_site.clear();
  EXPECT_EQ(get(good_), Refusal::none);
}

TEST_F(Gate, RefusesAnotherHostEvenForTheFilesOfThePage) {
  for (const std::vector<std::string>& hosts : {std::vector<std::string>{},
                                                {"evil.example:9129"},
                                                {"127.0.0.1:9129", "127.0.0.1:9129"},
                                                {"127.0.0.1"},
                                                {"localhost:9129", "evil.example"}}) {
    auto given = good_;
    given.hosts = hosts;
    EXPECT_EQ(post(given), Refusal::wrong_host);
    EXPECT_EQ(get(given, Endpoint::asset), Refusal::wrong_host);
    EXPECT_EQ(post(given, Endpoint::login), Refusal::wrong_host);
  }
}

TEST_F(Gate, RefusesOtherOrigins) {
  // The neighbour on another port gets the same cookies.
  for (const auto* origin : {"http://127.0.0.1:3000", "null", "https://evil.example",
                             "http://localhost:9129", "https://127.0.0.1:9129", ""}) {
    auto given = good_;
    given.origin = origin;
    EXPECT_EQ(post(given), Refusal::foreign_origin) << origin;
    EXPECT_EQ(get(given), Refusal::foreign_origin) << origin;
    EXPECT_EQ(post(given, Endpoint::login), Refusal::foreign_origin) << origin;
  }
  auto given = good_;
  given.origin.reset();
  EXPECT_EQ(post(given), Refusal::foreign_origin);
  for (const auto* site : {"same-site", "cross-site", "none"}) {
    given = good_;
    given.fetch_site = site;
    EXPECT_EQ(get(given), Refusal::foreign_origin) << site;
  }
}

TEST_F(Gate, RefusesWhatAFormCanSend) {
  for (const auto* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data", "application/jsonx"}) {
    auto given = good_;
    given.content_type = type;
    EXPECT_EQ(post(given), Refusal::not_json) << type;
  }
  good_.content_type = "Application/JSON; charset=utf-8";
  EXPECT_EQ(post(good_), Refusal::none);
}

TEST_F(Gate, NeedsCookieAndHeader) {
  auto given = good_;
  given.cookie.clear();
  EXPECT_EQ(post(given), Refusal::no_session);
  EXPECT_EQ(get(given, Endpoint::events), Refusal::no_session);
  given = good_;
  given.csrf.clear();
  EXPECT_EQ(post(given), Refusal::no_csrf);
  EXPECT_EQ(get(given, Endpoint::events), Refusal::no_csrf);
  given.csrf = good_.cookie;
  EXPECT_EQ(post(given), Refusal::no_csrf);
  EXPECT_EQ(post({good_.hosts, good_.origin, "", "application/json", "", ""}, Endpoint::login),
            Refusal::none);
}

TEST_F(Gate, LetsProgramsWithoutACookieThroughToA2aOnly) {
  Credentials program{{"127.0.0.1:9129"}, {}, "", "application/json", "", ""};
  EXPECT_EQ(post(program, Endpoint::a2a), Refusal::none);
  EXPECT_EQ(get(program, Endpoint::a2a), Refusal::none);
  program.content_type = "application/a2a+json; charset=utf-8";
  EXPECT_EQ(post(program, Endpoint::a2a), Refusal::none);
  EXPECT_NE(post(program, Endpoint::control), Refusal::none);
  EXPECT_NE(post(program, Endpoint::workers), Refusal::none);
  program.content_type = "";
  EXPECT_EQ(post(program, Endpoint::a2a), Refusal::none);
  for (const auto* type :
       {"text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    program.content_type = type;
    EXPECT_EQ(post(program, Endpoint::a2a), Refusal::not_json) << type;
  }
}

TEST_F(Gate, RefusesPagesOfOtherSitesAndRebindingForA2a) {
  const Credentials program{{"127.0.0.1:9129"}, {}, "", "application/json", "", ""};
  auto given = program;
  given.hosts = {"evil.example:9129"};
  EXPECT_EQ(post(given, Endpoint::a2a), Refusal::wrong_host);
  for (const auto* origin : {"null", "https://evil.example", "http://127.0.0.1:3000"}) {
    given = program;
    given.origin = origin;
    EXPECT_EQ(post(given, Endpoint::a2a), Refusal::foreign_origin) << origin;
    EXPECT_EQ(get(given, Endpoint::a2a), Refusal::foreign_origin) << origin;
  }
  for (const auto* site : {"cross-site", "same-site", "none"}) {
    given = program;
    given.fetch_site = site;
    EXPECT_EQ(get(given, Endpoint::a2a), Refusal::foreign_origin) << site;
  }
}

}  // namespace
}  // namespace stile::web
