// AskScreen: rows stay where they are, and a key answers only the ask that was looked at.
#include "cli/ask_screen.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stile::cli {
namespace {

using std::chrono::milliseconds;

constexpr AskScreen::Time begin{std::chrono::hours{1}};
constexpr AskScreen::Time later = begin + std::chrono::seconds{5};

Json ask_of(const char* id, const char* host) {
  return {{"id", id},     {"agent", "alpha"},    {"host", host},
          {"port", 443U}, {"scheme", "connect"}, {"reason", "host-not-allowed"},
          {"count", 1U},  {"held", 1U}};
}

Json event_of(const char* id, const char* host) {
  return {{"event", "ask"}, {"ask", ask_of(id, host)}};
}

AskScreen screen_of(std::initializer_list<const char*> ids) {
  AskScreen screen;
  for (const char* id : ids) screen.take_event(event_of(id, id), begin);
  return screen;
}

KeyPress letter(char one) { return {ScreenKey::letter, one}; }

std::string drawn(const AskScreen& screen) {
  std::string all;
  for (const auto& line : screen.draw(100, 20, {})) all += line + '\n';
  return all;
}

TEST(TakeKey, ReadsWhatATerminalSends) {
  std::string bytes = "a\x1b[A\x1b[B\x1bOB\x1b[15~\r\x7f\x03";
  std::vector<ScreenKey> keys;
  while (const auto key = take_key(bytes, true)) keys.push_back(key->key);
  EXPECT_EQ(keys, (std::vector<ScreenKey>{ScreenKey::letter, ScreenKey::up, ScreenKey::down,
                                          ScreenKey::down, ScreenKey::other, ScreenKey::enter,
                                          ScreenKey::erase, ScreenKey::letter}));
  bytes = "\x1b";
  EXPECT_FALSE(take_key(bytes, false));
  EXPECT_EQ(take_key(bytes, true)->key, ScreenKey::escape);
}

TEST(AskScreen, ShowsALongHostToItsEnd) {
  const std::string host =
      "api.github.com." + std::string(60, 'a') + '.' + std::string(60, 'b') + ".evil.example";
  AskScreen screen;
  screen.take_event(event_of("one", host.c_str()), begin);
  std::string all;
  for (const auto& line : screen.draw(80, 24, {})) all += line;
  EXPECT_NE(all.find(host), std::string::npos) << all;
}

TEST(AskScreen, KeysAnswerTheSelectedAsk) {
  AskScreen screen = screen_of({"one", "two"});
  EXPECT_EQ(screen.selected_id(), "one");
  auto step = screen.press(letter('a'), later);
  ASSERT_TRUE(step.request);
  EXPECT_EQ(step.request->dump(),
            R"({"action":"answer","ask":"one","verdict":"allow","ttl_seconds":600})");
  EXPECT_FALSE(screen.press({ScreenKey::down, 0}, later).request);
  step = screen.press(letter('n'), later);
  EXPECT_EQ(step.request->dump(), R"({"action":"answer","ask":"two","verdict":"deny"})");
  step = screen.press(letter('o'), later);
  EXPECT_EQ(step.request->dump(),
            R"({"action":"answer","ask":"two","verdict":"allow","max_requests":1})");
  EXPECT_TRUE(screen.press(letter('q'), later).ends);
}

TEST(AskScreen, NothingMovesUnderTheFinger) {
  AskScreen screen = screen_of({"one", "two"});
  static_cast<void>(screen.press({ScreenKey::down, 0}, later));
  screen.take_event(event_of("three", "a-first-in-the-alphabet"), later);
  screen.take_event({{"event", "answer"}, {"id", "one"}, {"state", "allowed"}}, later);
  EXPECT_EQ(screen.selected_id(), "two");
  const std::string text = drawn(screen);
  EXPECT_LT(text.find("one:443"), text.find("two:443"));
  EXPECT_LT(text.find("two:443"), text.find("a-first-in-the-alphabet:443"));
  // The selected one was answered elsewhere: its line stays, and a key answers nothing.
  screen.take_event({{"event", "answer"}, {"id", "two"}, {"state", "refused"}}, later);
  EXPECT_FALSE(screen.press(letter('a'), later).request);
  static_cast<void>(screen.press(letter('c'), later));
  EXPECT_EQ(screen.selected_id(), "two");
  EXPECT_EQ(drawn(screen).find("one:443"), std::string::npos);
}

TEST(AskScreen, AKeyMeantForSomethingElseAnswersNothing) {
  AskScreen screen;
  screen.take_event(event_of("one", "a.com"), begin);
  EXPECT_FALSE(screen.press(letter('a'), begin + milliseconds{100}).request);
  EXPECT_TRUE(screen.press(letter('a'), begin + AskScreen::settle_time).request);
}

TEST(AskScreen, AsksHowLongAndHowWide) {
  AskScreen screen = screen_of({"one"});
  static_cast<void>(screen.press(letter('e'), later));
  for (int i = 0; i < 3; ++i) static_cast<void>(screen.press({ScreenKey::erase, 0}, later));
  for (const char one : std::string{"2h"}) static_cast<void>(screen.press(letter(one), later));
  EXPECT_FALSE(screen.press({ScreenKey::enter, 0}, later).request);
  for (const char one : std::string{".one"}) static_cast<void>(screen.press(letter(one), later));
  const auto step = screen.press({ScreenKey::enter, 0}, later);
  ASSERT_TRUE(step.request);
  EXPECT_EQ(step.request->dump(), R"({"action":"answer","ask":"one","verdict":"allow",)"
                                  R"("ttl_seconds":7200,"hosts":[".one"]})");
}

TEST(AskScreen, EscapeAnswersNothing) {
  AskScreen screen = screen_of({"one"});
  static_cast<void>(screen.press(letter('e'), later));
  static_cast<void>(screen.press({ScreenKey::escape, 0}, later));
  EXPECT_FALSE(screen.press({ScreenKey::enter, 0}, later).request);
}

TEST(AskScreen, WhatAnAgentWroteCannotControlTheTerminal) {
  AskScreen screen;
  Json ask = ask_of("one", "a.com");
  ask.set("agent_reason", "\x1b[2Jyes\r\n> approve");
  ask.set("host", "a\x1b]0;x\x07.com");
  screen.take_list(Json::list(), begin);
  screen.take_event({{"event", "ask"}, {"ask", ask}}, begin);
  const std::string text = drawn(screen);
  EXPECT_TRUE(std::none_of(text.begin(), text.end(),
                           [](char one) { return one != '\n' && (one < ' ' || one > '~'); }));
  EXPECT_NE(text.find("(untrusted)"), std::string::npos);
}

TEST(AskScreen, FitsTheTerminal) {
  AskScreen screen;
  for (int i = 0; i < 50; ++i) {
    const std::string id = "ask" + std::to_string(i);
    screen.take_event(event_of(id.c_str(), std::string(200, 'x').c_str()), begin);
  }
  for (int i = 0; i < 30; ++i) static_cast<void>(screen.press(letter('j'), later));
  const auto lines = screen.draw(40, 20, {});
  EXPECT_EQ(lines.size(), 20U);
  for (const auto& line : lines) EXPECT_LE(line.size(), 40U);
  EXPECT_EQ(screen.selected_id(), "ask30");
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.starts_with("> "); }));
}

}  // namespace
}  // namespace stile::cli
