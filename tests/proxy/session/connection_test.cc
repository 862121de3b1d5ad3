// Whole connections, step by step, in the world of the connection fuzzer: real session code on a
// clock, a network, a disk and a DNS server that the test plays. After each test the world also
// judges what every play must keep to, see tests/fuzz/connection_world.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/connection_world.h"
#include "tests/proxy/tls/hello_bytes.h"

namespace stile::session {
namespace {

using fuzz::DnsAnswer;
using fuzz::RequestLine;
using fuzz::Stage;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Each step happens when nothing more comes of the one before.
class Play final : public fuzz::World {
 public:
  using Step = std::function<void(Play&)>;
  // `at_line` happens with the first line that lets a request out.
  explicit Play(std::vector<Step> steps, Step at_line = {})
      : steps_{std::move(steps)}, at_line_{std::move(at_line)} {
    run();
  }

  using World::change_policy, World::disk, World::Disk, World::drain, World::lines, World::origin,
      World::origin_count, World::pass, World::Round, World::set_dial_result;

  fuzz::End& agent() { return client(); }
  void connect_again() {
    open_client();
    seen_ = 0;
  }
  // Since the last call.
  std::string answer() {
    const std::string& all = client().received;
    return all.substr(std::exchange(seen_, all.size()));
  }
  std::string arrived(std::size_t number = 0) {
    choose_origin(number);
    return origin() == nullptr ? "" : origin()->end.received;
  }

 private:
  bool move() override {
    if (next_ == steps_.size()) return false;
    steps_[next_++](*this);
    return true;
  }

  void after_open_line() override {
    if (const Step step = std::exchange(at_line_, {})) step(*this);
  }

  std::vector<Step> steps_;
  Step at_line_;
  std::size_t next_ = 0, seen_ = 0;
};

// "open", "deny host-not-allowed", …
std::vector<std::string> story(const Play& play) {
  std::vector<std::string> told;
  for (const RequestLine& line : play.lines()) {
    using Event = RequestLine::Event;
    std::string text = line.event == Event::open   ? "open"
                       : line.event == Event::deny ? "deny"
                                                   : "close";
    if (!line.reason.empty()) text += ' ' + line.reason;
    told.push_back(std::move(text));
  }
  return told;
}

Play::Step send(std::string bytes) {
  return [bytes = std::move(bytes)](Play& play) { play.agent().send(bytes); };
}

std::string hello(std::string_view name) {
  return tls::hello_with_extensions(tls::server_name(name));
}

std::string connect_to(const std::string& target) {
  return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

std::string get(const std::string& host) {
  return "GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

std::string post(const std::string& host, std::string_view body, std::size_t announced) {
  return "POST http://" + host + "/ HTTP/1.1\r\nHost: " + host +
         "\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n" + std::string{body};
}

Play::Step change_to(Stage stage, Play::Round round = Play::Round::later) {
  return [=](Play& play) { play.change_policy(stage, round); };
}

Play::Step answer_ok() {
  return
      [](Play& play) { play.origin()->end.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); };
}

Play::Step expect_answer(std::string beginning) {
  return [beginning = std::move(beginning)](Play& play) {
    EXPECT_THAT(play.answer(), StartsWith(beginning));
  };
}

TEST(Connection, OpensATunnelOnceItsHelloIsJudged) {
  const Play play{{send(connect_to("a.test:443")), expect_answer("HTTP/1.1 200 "),
                   [](Play& now) {
                     EXPECT_THAT(now.lines(), IsEmpty()) << "nothing is let out yet";
                     EXPECT_EQ(now.arrived(), "");
                   },
                   send(hello("a.test")),
                   [](Play& now) {
                     EXPECT_EQ(now.arrived(), hello("a.test"));
                     now.origin()->end.send("server hello");
                   },
                   [](Play& now) { EXPECT_EQ(now.answer(), "server hello"); }}};
  EXPECT_THAT(story(play), ElementsAre("open", StartsWith("close")));
}

TEST(Connection, RefusesAHostWithoutDialling) {
  const Play play{{send(connect_to("evil.test:443")), expect_answer("HTTP/1.1 403 "),
                   [](Play& now) { EXPECT_EQ(now.origin_count(), 0U); }}};
  EXPECT_THAT(story(play), ElementsAre("deny host-not-allowed"));
}

TEST(Connection, RefusesAPrivateAddressBehindAnAllowedName) {
  const Play play{{send(connect_to("inside.test:443")), expect_answer("HTTP/1.1 403 "),
                   [](Play& now) { EXPECT_EQ(now.origin_count(), 0U); }}};
  EXPECT_THAT(story(play), ElementsAre("deny address-forbidden"));
}

TEST(Connection, RefusesAHelloForAnotherNameBeforeAByteMoves) {
  const Play play{{send(connect_to("a.test:443")), expect_answer("HTTP/1.1 200 "),
                   send(hello("b.test")), expect_answer("\x15\x03"),
                   [](Play& now) { EXPECT_EQ(now.arrived(), ""); }}};
  EXPECT_THAT(story(play), ElementsAre("deny sni-mismatch"));
}

TEST(Connection, JudgesAHelloThatComesByteByByte) {
  std::vector<Play::Step> steps{send(connect_to("a.test:443"))};
  for (const char byte : hello("b.test")) steps.push_back(send(std::string(1, byte)));
  steps.emplace_back([](Play& now) { EXPECT_EQ(now.arrived(), ""); });
  const Play play{steps};
  EXPECT_THAT(story(play), ElementsAre("deny sni-mismatch"));
}

TEST(Connection, CutsATunnelWhoseHostIsDeniedMeanwhile) {
  const Play play{{send(connect_to("b.test:443")), send(hello("b.test")),
                   [](Play& now) { now.change_policy(Stage::without_b, Play::Round::now); },
                   send("after the end"),
                   [](Play& now) { EXPECT_EQ(now.arrived(), hello("b.test")); }}};
  EXPECT_THAT(story(play), ElementsAre("open", "close revoked"));
}

TEST(Connection, LeavesATunnelAloneThatTheNewPolicyAllows) {
  const Play play{{send(connect_to("a.test:443")), send(hello("a.test")),
                   [](Play& now) { now.change_policy(Stage::without_b, Play::Round::now); },
                   send("more"), [](Play& now) { EXPECT_THAT(now.arrived(), HasSubstr("more")); }}};
  EXPECT_THAT(story(play), ElementsAre("open", StartsWith("close")));
}

TEST(Connection, SendsNothingToAnOriginWhileTheDiskIsFull) {
  const Play play{{[](Play& now) { now.disk = Play::Disk::is_full; },
                   send(connect_to("a.test:443")), send(hello("a.test")),
                   [](Play& now) { EXPECT_EQ(now.arrived(), ""); }}};
}

TEST(Connection, GivesUpOnAHeadThatDoesNotEnd) {
  const Play play{{send("CONNECT a.test:443 HTTP/1.1\r\n"),
                   [](Play& now) { now.pass(milliseconds{11000}); },
                   expect_answer("HTTP/1.1 408 ")}};
  EXPECT_THAT(story(play), ElementsAre("deny header-timeout"));
}

TEST(Connection, TellsWhichWayADialFailed) {
  const Play refused{{[](Play& now) { now.set_dial_result(ECONNREFUSED); },
                      send(connect_to("a.test:443")), expect_answer("HTTP/1.1 502 ")}};
  EXPECT_THAT(story(refused), ElementsAre("deny origin-unreachable"));
  const Play silent{
      {[](Play& now) { now.set_dial_result(ETIMEDOUT); }, send(connect_to("a.test:443")),
       [](Play& now) { now.pass(milliseconds{11000}); }, expect_answer("HTTP/1.1 504 ")}};
  EXPECT_THAT(story(silent), ElementsAre("deny origin-timeout"));
}

TEST(Connection, DialsWhatTheNameServerAnswersOnlyIfAllOfItMayBeDialled) {
  const auto ask = [](DnsAnswer answer) {
    const Play play{{send(connect_to("c.test:443")), [&](Play&) { answer_question(answer); },
                     [&](Play&) { answer_question(answer); }, send(hello("c.test"))}};
    return story(play);
  };
  EXPECT_THAT(ask(DnsAnswer::address), ElementsAre("open", StartsWith("close")));
  EXPECT_THAT(ask(DnsAnswer::private_address), ElementsAre("deny address-forbidden"));
  EXPECT_THAT(ask(DnsAnswer::private_behind_alias), ElementsAre("deny address-forbidden"));
  EXPECT_THAT(ask(DnsAnswer::no_name), ElementsAre("deny dns-failure"));
}

TEST(Connection, KeepsAnOriginForTheNextRequestToTheSameHost) {
  const Play play{{send(get("a.test")), answer_ok(), expect_answer("HTTP/1.1 200 "),
                   send(get("a.test")), answer_ok(), expect_answer("HTTP/1.1 200 "),
                   [](Play& now) { EXPECT_EQ(now.origin_count(), 1U); }, send(get("b.test")),
                   [](Play& now) { EXPECT_EQ(now.origin_count(), 2U); }}};
}

TEST(Connection, ForgetsAKeptOriginThatThePolicyTakesAway) {
  const Play play{{send(get("b.test")), answer_ok(), expect_answer("HTTP/1.1 200 "),
                   [](Play& now) { now.change_policy(Stage::without_b, Play::Round::now); },
                   [](Play& now) { now.connect_again(); }, send(get("b.test")),
                   expect_answer("HTTP/1.1 403 "),
                   [](Play& now) { EXPECT_EQ(now.origin_count(), 1U); }}};
  EXPECT_THAT(story(play), ElementsAre("open", "close", "deny host-denied"));
}

TEST(Connection, StripsCredentialsFromARequest) {
  const Play play{{send("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAuthorization: s\r\n\r\n"),
                   [](Play& now) {
                     EXPECT_THAT(now.arrived(), StartsWith("GET / HTTP/1.1\r\n"));
                     EXPECT_THAT(now.arrived(), testing::Not(HasSubstr("uthorization")));
                   }}};
}

// Searched under one policy, written down, and only then would it be sent. Nothing that is open is
// judged again meanwhile: the request has to look for itself.
TEST(Connection, ABodyThatWasSearchedIsJudgedAgainBeforeItIsSent) {
  const auto body = "harmless " + std::string{fuzz::never_out_later};
  const auto play_with = [&](Stage later) {
    return Play{{change_to(Stage::searching, Play::Round::now),
                 send(post("b.test", body, body.size())), answer_ok()},
                change_to(later)};
  };
  const auto arrived_at = [](Play& play) { return play.arrived(); };

  Play allowed = play_with(Stage::searching);
  EXPECT_THAT(story(allowed), ElementsAre("open", "close"));
  EXPECT_THAT(arrived_at(allowed), HasSubstr(body));
  for (const Stage narrower :
       {Stage::without_b, Stage::nothing, Stage::offline, Stage::agent_gone}) {
    Play refused = play_with(narrower);
    EXPECT_THAT(story(refused), ElementsAre("open", "close revoked"));
    EXPECT_EQ(arrived_at(refused), "");
  }
  Play found = play_with(Stage::searching_more);
  EXPECT_THAT(story(found), ElementsAre("open", "close secret-found"));
  EXPECT_EQ(arrived_at(found), "");
}

TEST(Connection, ABodyThatIsStillArrivingIsJudgedByThePolicyOfItsEnd) {
  const std::string first = "harmless ", rest{fuzz::never_out_later};
  const auto play_with = [&](Stage later) {
    return Play{{change_to(Stage::searching, Play::Round::now),
                 send(post("b.test", first, first.size() + rest.size())),
                 [](Play& now) { EXPECT_THAT(now.lines(), IsEmpty()) << "the body is held"; },
                 change_to(later), send(rest), answer_ok()}};
  };
  Play denied = play_with(Stage::without_b);
  EXPECT_THAT(story(denied), ElementsAre("deny host-denied"));
  EXPECT_EQ(denied.arrived(), "");
  Play found = play_with(Stage::searching_more);
  EXPECT_THAT(story(found), ElementsAre("deny secret-found"));
  EXPECT_EQ(found.arrived(), "");
  Play allowed = play_with(Stage::all);
  EXPECT_THAT(story(allowed), ElementsAre("open", "close"));
  EXPECT_THAT(allowed.arrived(), HasSubstr(first + rest));
}

TEST(Connection, ServesNothingNewWhileItDrains) {
  const Play play{{send(get("a.test")), answer_ok(), expect_answer("HTTP/1.1 200 "),
                   [](Play& now) { now.drain(); }, send(get("a.test")),
                   [](Play& now) { EXPECT_EQ(now.answer(), ""); }}};
}

}  // namespace
}  // namespace stile::session
