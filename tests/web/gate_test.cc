// The gate: each attack, with everything else right.
#include "web/gate.h"

#include <gtest/gtest.h>

namespace stile::web {
namespace {

const BrowserSessions::Time gate_time{};
const std::vector<Origin> gate_origins{{"http", "127.0.0.1:9129"}, {"http", "localhost:9129"}};

class Gate : public testing::Test {
 protected:
  Gate() {
    const auto keys = sessions_.log_in(sessions_.new_token(gate_time), gate_time);
    good_ = {{"127.0.0.1:9129"}, "http://127.0.0.1:9129",
             "same-origin",      "application/json",
             keys->cookie,       keys->csrf};
  }
  WebRefusal post(const WebCredentials& given, WebEndpoint endpoint = WebEndpoint::control) {
    return judge(gate_origins, sessions_, WebMethod::post, endpoint, given, gate_time);
  }
  WebRefusal get(const WebCredentials& given, WebEndpoint endpoint = WebEndpoint::control) {
    return judge(gate_origins, sessions_, WebMethod::get, endpoint, given, gate_time);
  }
  BrowserSessions sessions_;
  WebCredentials good_;
};

TEST_F(Gate, PassesABrowserThatLoggedIn) {
  EXPECT_EQ(post(good_), WebRefusal::none);
  EXPECT_EQ(get(good_), WebRefusal::none);
  good_.origin.reset();  // browsers leave it out of a GET
  EXPECT_EQ(get(good_), WebRefusal::none);
  good_.fetch_site.clear();
  EXPECT_EQ(get(good_), WebRefusal::none);
}

TEST_F(Gate, RefusesAnotherHostEvenForTheFilesOfThePage) {
  for (const std::vector<std::string>& hosts : {std::vector<std::string>{},
                                                {"evil.example:9129"},
                                                {"127.0.0.1:9129", "127.0.0.1:9129"},
                                                {"127.0.0.1"},
                                                {"localhost:9129", "evil.example"}}) {
    auto given = good_;
    given.hosts = hosts;
    EXPECT_EQ(post(given), WebRefusal::wrong_host);
    EXPECT_EQ(get(given, WebEndpoint::asset), WebRefusal::wrong_host);
    EXPECT_EQ(post(given, WebEndpoint::login), WebRefusal::wrong_host);
  }
}

TEST_F(Gate, RefusesOtherOrigins) {
  // The neighbour on another port gets the same cookies.
  for (const auto* origin : {"http://127.0.0.1:3000", "null", "https://evil.example",
                             "http://localhost:9129", "https://127.0.0.1:9129", ""}) {
    auto given = good_;
    given.origin = origin;
    EXPECT_EQ(post(given), WebRefusal::foreign_origin) << origin;
    EXPECT_EQ(get(given), WebRefusal::foreign_origin) << origin;
    EXPECT_EQ(post(given, WebEndpoint::login), WebRefusal::foreign_origin) << origin;
  }
  auto given = good_;
  given.origin.reset();
  EXPECT_EQ(post(given), WebRefusal::foreign_origin);
  for (const auto* site : {"same-site", "cross-site", "none"}) {
    given = good_;
    given.fetch_site = site;
    EXPECT_EQ(get(given), WebRefusal::foreign_origin) << site;
  }
}

TEST_F(Gate, RefusesWhatAFormCanSend) {
  for (const auto* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data", "application/jsonx"}) {
    auto given = good_;
    given.content_type = type;
    EXPECT_EQ(post(given), WebRefusal::not_json) << type;
  }
  good_.content_type = "Application/JSON; charset=utf-8";
  EXPECT_EQ(post(good_), WebRefusal::none);
}

TEST_F(Gate, NeedsCookieAndHeader) {
  auto given = good_;
  given.cookie.clear();
  EXPECT_EQ(post(given), WebRefusal::no_session);
  EXPECT_EQ(get(given, WebEndpoint::events), WebRefusal::no_session);
  given = good_;
  given.csrf.clear();
  EXPECT_EQ(post(given), WebRefusal::no_csrf);
  EXPECT_EQ(get(given, WebEndpoint::events), WebRefusal::no_csrf);
  given.csrf = good_.cookie;
  EXPECT_EQ(post(given), WebRefusal::no_csrf);
  EXPECT_EQ(post({good_.hosts, good_.origin, "", "application/json", "", ""}, WebEndpoint::login),
            WebRefusal::none);
}

TEST_F(Gate, LetsProgramsWithoutACookieThroughToA2aOnly) {
  WebCredentials program{{"127.0.0.1:9129"}, {}, "", "application/json", "", ""};
  EXPECT_EQ(post(program, WebEndpoint::a2a), WebRefusal::none);
  EXPECT_EQ(get(program, WebEndpoint::a2a), WebRefusal::none);
  program.content_type = "application/a2a+json; charset=utf-8";
  EXPECT_EQ(post(program, WebEndpoint::a2a), WebRefusal::none);
  EXPECT_NE(post(program, WebEndpoint::control), WebRefusal::none);
  EXPECT_NE(post(program, WebEndpoint::workers), WebRefusal::none);
  program.content_type = "";
  EXPECT_EQ(post(program, WebEndpoint::a2a), WebRefusal::none);
  for (const auto* type :
       {"text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    program.content_type = type;
    EXPECT_EQ(post(program, WebEndpoint::a2a), WebRefusal::not_json) << type;
  }
}

TEST_F(Gate, RefusesPagesOfOtherSitesAndRebindingForA2a) {
  const WebCredentials program{{"127.0.0.1:9129"}, {}, "", "application/json", "", ""};
  auto given = program;
  given.hosts = {"evil.example:9129"};
  EXPECT_EQ(post(given, WebEndpoint::a2a), WebRefusal::wrong_host);
  for (const auto* origin : {"null", "https://evil.example", "http://127.0.0.1:3000"}) {
    given = program;
    given.origin = origin;
    EXPECT_EQ(post(given, WebEndpoint::a2a), WebRefusal::foreign_origin) << origin;
    EXPECT_EQ(get(given, WebEndpoint::a2a), WebRefusal::foreign_origin) << origin;
  }
  for (const auto* site : {"cross-site", "same-site", "none"}) {
    given = program;
    given.fetch_site = site;
    EXPECT_EQ(get(given, WebEndpoint::a2a), WebRefusal::foreign_origin) << site;
  }
}

}  // namespace
}  // namespace stile::web
