// The commands at the beginning of a push, and the answer to a refused one.
#include "proxy/http/git_push.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile::http {
namespace {

using namespace std::string_literals;
using State = PushReader::State;

const std::string none(40, '0'), one(40, '1'), two(40, '2');

std::string packet(const std::string& content) {
  char length[5];
  std::snprintf(length, sizeof length, "%04x", static_cast<unsigned>(content.size() + 4));
  return length + content;
}

std::string first(const std::string& ref, const std::string& capabilities) {
  return packet(none + ' ' + one + ' ' + ref + '\0' + capabilities);
}

struct Read {
  State state = State::need_more;
  std::string fault;
  std::vector<std::string> refs;
  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view text, std::size_t piece) {
  PushReader reader;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    static_cast<void>(reader.feed(text.substr(at, piece)));
  }
  Read result{reader.state(), reader.state() == State::bad ? reader.fault() : "", {}};
  for (const auto& command : reader.commands()) {
    result.refs.push_back((command.is_deletion ? "-" : "") + command.ref);
  }
  return result;
}

Read read_all_ways(std::string_view text) {
  const Read whole = read(text, text.size() + 1);
  for (std::size_t piece = 1; piece < 9; ++piece) EXPECT_EQ(read(text, piece), whole) << piece;
  return whole;
}

TEST(PushReader, FindsEveryCommandUpToTheFlush) {
  const auto text = first("refs/heads/a", " report-status side-band-64k agent=git/2.39") +
                    packet(one + ' ' + two + " refs/heads/b\n") +
                    packet(one + ' ' + none + " refs/heads/c") + "0000PACK\0\0\0"s;
  const Read found = read_all_ways(text);
  EXPECT_EQ(found.state, State::complete);
  EXPECT_EQ(found.refs,
            (std::vector<std::string>{"refs/heads/a", "refs/heads/b", "-refs/heads/c"}));
  // Cut at every byte before the flush it wants more, and has no command that is not whole.
  const std::size_t end = text.find("0000PACK") + 4;
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_EQ(read(text.substr(0, size), size + 1).state, State::need_more) << size;
  }
}

TEST(PushReader, KnowsTheOtherPartsOfTheProtocol) {
  struct Case {
    std::string text;
    State state;
    std::vector<std::string> refs;
  };
  const Case cases[] = {
      {"0000", State::complete, {}},  // the probe before a large push
      {"0000x", State::bad, {}},
      {"0000" + first("refs/heads/a", "") + "0000", State::bad, {}},
      {packet("shallow " + one) + "0000" + first("refs/heads/a", "") + "0000", State::bad, {}},
      {packet("shallow " + one) + first("refs/heads/a", "") + "0000",
       State::complete,
       {"refs/heads/a"}},
      {packet(std::string(64, '0') + ' ' + std::string(64, '1') + " refs/heads/a\0 x"s) + "0000",
       State::complete,
       {"refs/heads/a"}},  // SHA-256
      {first("refs/heads/a", "push-options") + "0000", State::bad, {"refs/heads/a"}},
      {first("refs/heads/a", "report-status push-options\n") + "0000",
       State::bad,
       {"refs/heads/a"}},
      // git takes any white space between capabilities.
      {first("refs/heads/a", "report-status\tpush-options") + "0000", State::bad, {"refs/heads/a"}},
      {first("refs/heads/a", "report-status\rpush-options") + "0000", State::bad, {"refs/heads/a"}},
      {packet("push-cert\0report-status"s), State::bad, {}},
      {packet("push-cert\n"), State::bad, {}},
      {first("refs/heads/a", "") + first("refs/heads/b", "") + "0000",
       State::bad,
       {"refs/heads/a"}},
      {"0001", State::bad, {}},
      {"0002", State::bad, {}},
      {"0003", State::bad, {}},
      {"0004", State::bad, {}},
      {"zzzz", State::bad, {}},
      {"-001", State::bad, {}},
      {packet("shallow x"), State::bad, {}},
      {packet("hello"), State::bad, {}},
      {packet(one + ' ' + two), State::bad, {}},
      {packet(one + "  refs/heads/a"), State::bad, {}},
      {packet(one + ' ' + std::string(64, '2') + " refs/heads/a"), State::bad, {}},
      {packet(std::string(39, '1') + ' ' + two + " refs/heads/a"), State::bad, {}},
      {"PACK", State::bad, {}},
  };
  for (const auto& [text, state, refs] : cases) {
    const Read found = read_all_ways(text);
    EXPECT_EQ(found.state, state) << text;
    EXPECT_EQ(found.refs, refs) << text;
  }
}

TEST(PushReader, TakesNoMoreThanItsBound) {
  std::string text;
  while (text.size() <= PushReader::max_bytes) {
    text += packet(one + ' ' + two + " refs/heads/" + std::to_string(text.size()));
  }
  EXPECT_EQ(read(text, 1000).state, State::bad);
  EXPECT_EQ(read("ffff" + std::string(70'000, 'x'), 1000).state, State::bad);
}

TEST(PushRefusal, IsAReportThatGitReads) {
  PushReader reader;
  static_cast<void>(reader.feed(first("refs/heads/a", "report-status side-band-64k") + "0000"));
  EXPECT_TRUE(reader.wants_report());
  const auto report = packet("unpack ok\n") + packet("ng refs/heads/a no\n") + "0000";
  EXPECT_EQ(write_push_refusal(reader, "no", "why"),
            packet("\2why\n") + packet("\1" + report) + "0000");
  PushReader plain;
  static_cast<void>(plain.feed(first("refs/heads/a", "report-status-v2") + "0000"));
  EXPECT_EQ(write_push_refusal(plain, "no", "why"), report);
}

}  // namespace
}  // namespace stile::http
