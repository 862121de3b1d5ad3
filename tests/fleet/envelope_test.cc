// Envelope: one text for each object, and no other.
#include "fleet/envelope.h"

#include <gtest/gtest.h>

#include "config/json_loader.h"
#include "fleet/canonical.h"
#include "tests/fleet/keys.h"

namespace stile::fleet {
namespace {

std::string valid_text() {
  auto envelope = envelope_of(7, R"({"agent":[{"allow":[".example.com"],"id":"alpha"}]})");
  envelope.hosts = {"web-1", "db.example.org"};
  envelope.labels = {"prod"};
  return signed_text("policy/base", envelope);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(Envelope, ReadsWhatItWrites) {
  const auto text = valid_text();
  const auto read = parse_envelope(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->serial, 7U);
  EXPECT_EQ(read->labels, std::vector<std::string>{"prod"});
  EXPECT_EQ(envelope_text(*read), text);
}

TEST(Envelope, RefusesEveryCut) {
  const auto text = valid_text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_envelope(text.substr(0, size))) << size;
  }
}

TEST(Envelope, RefusesAnotherTextOfTheSameObject) {
  const auto text = valid_text();
  const std::vector<std::string> others{
      text + " ",
      text + "\n",
      " " + text,
      replaced(text, "{\"body\":", "{ \"body\":"),
      replaced(text, "\"serial\":7", "\"serial\":7.0"),
      replaced(text, "\"serial\":7", "\"serial\":07"),
      replaced(text, "\"prod\"", "\"\\u0070rod\""),  // the same word, escaped
      replaced(text, "\"serial\":7", "\"serial\":7,\"serial\":7"),
      replaced(text, "\"serial\":7", "\"other\":1,\"serial\":7"),  // a member that is not signed
      replaced(text, "{\"allow\":[\".example.com\"],\"id\":\"alpha\"}",
               "{\"id\":\"alpha\",\"allow\":[\".example.com\"]}"),  // another order
      replaced(text, "1970-01-01T00:01:40Z", "1970-01-01T00:01:40.0Z"),
      replaced(text, "1970-01-01T00:01:40Z", "1970-01-01T01:01:40+01:00"),
  };
  for (const auto& other : others) EXPECT_FALSE(parse_envelope(other)) << other;
}

TEST(Envelope, RefusesValuesOutOfBounds) {
  const auto text = valid_text();
  const std::vector<std::string> others{
      replaced(text, "\"serial\":7", "\"serial\":0"),
      replaced(text, "\"serial\":7", "\"serial\":-1"),
      replaced(text, "\"serial\":7", "\"serial\":9007199254740992"),
      replaced(text, "\"serial\":7", "\"serial\":\"7\""),
      replaced(text, "\"web-1\"", "\"WEB-1\""),
      replaced(text, "\"web-1\"", "\"../x\""),
      replaced(text, "\"web-1\"", "1"),
      replaced(text, "1970-01-01T00:16:40Z", "1970-01-01T00:01:40Z"),  // ends as it begins
      replaced(text, "1970-01-01T00:16:40Z", "later"),
      replaced(text, "\".example.com\"", "null"),
      replaced(text, "\".example.com\"", "1.5"),
  };
  for (const auto& other : others) EXPECT_FALSE(parse_envelope(other)) << other;
  EXPECT_FALSE(parse_envelope(std::string(max_envelope_bytes + 1, ' ')));
  EXPECT_FALSE(parse_envelope("[]"));
  EXPECT_FALSE(parse_envelope("{}"));
}

TEST(Envelope, NamesOfObjects) {
  for (const auto* name : {"switch", "policy/base", "policy/0", "policy/a-b"}) {
    EXPECT_TRUE(is_object_name(name)) << name;
  }
  for (const auto* name : {"", "policy/", "policy/-a", "policy/A", "policy/a/b", "policy/a.b",
                           "policy/../x", "Switch", "hosts/a", "budgets/alpha"}) {
    EXPECT_FALSE(is_object_name(name)) << name;
  }
}

struct TargetCase {
  std::vector<std::string> hosts, labels;
  bool applies;
};

TEST(Envelope, AppliesToItsHostsAndLabels) {
  const std::vector<TargetCase> cases{
      {{}, {}, true},                  // every host
      {{"web-1"}, {}, true},           //
      {{"web-2"}, {}, false},          //
      {{"web-2", "web-1"}, {}, true},  //
      {{}, {"prod"}, true},            //
      {{}, {"test"}, false},           //
      {{"web-2"}, {"prod"}, true},     // either is enough
      {{"web-1"}, {"test"}, true},     //
      {{"web-2"}, {"test"}, false},
      {{"web"}, {}, false},  // no prefixes
  };
  for (const auto& one : cases) {
    auto envelope = envelope_of(1);
    envelope.hosts = one.hosts;
    envelope.labels = one.labels;
    EXPECT_EQ(applies_to(envelope, "web-1", {"prod", "eu"}), one.applies)
        << testing::PrintToString(one.hosts) << testing::PrintToString(one.labels);
  }
}

TEST(CanonicalText, SortsKeysAndWritesTimes) {
  const auto node = config::parse_json(R"({"b": [1, true, "x\u0041"], "a": {"d": 1, "c": 2}})", "");
  ASSERT_TRUE(node);
  EXPECT_EQ(*canonical_text(*node), R"({"a":{"c":2,"d":1},"b":[1,true,"xA"]})");
}

}  // namespace
}  // namespace stile::fleet
