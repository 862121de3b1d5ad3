// squid's command line.
#include "squid/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stile::squid {
namespace {

using Action = CommandLine::Action;

Result<CommandLine> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "squid");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return parse_command_line(static_cast<int>(words.size()), pointers.data());
}

TEST(SquidCommandLine, TakesWhatServiceFilesSay) {
  const auto nixos = parse({"--foreground", "-YCs", "-f", "/etc/x.conf"});
  ASSERT_TRUE(nixos);
  EXPECT_EQ(nixos->action, Action::serve);
  EXPECT_TRUE(nixos->is_foreground);
  EXPECT_EQ(nixos->file, "/etc/x.conf");
  const auto debian = parse({"--foreground", "-sYC"});
  ASSERT_TRUE(debian);
  EXPECT_EQ(debian->file, "/etc/squid/squid.conf");
  EXPECT_FALSE(parse({})->is_foreground);
  EXPECT_TRUE(parse({"-N", "-d1"})->is_foreground);
  EXPECT_EQ(parse({"--foreground", "-z", "-f", "x"})->action, Action::make_cache);
  EXPECT_EQ(parse({"-v"})->action, Action::version);
}

TEST(SquidCommandLine, TakesPrefixesOfSignals) {
  const std::pair<const char*, Action> rows[] = {
      {"r", Action::reconfigure}, {"reconfigure", Action::reconfigure},
      {"ro", Action::rotate},     {"shut", Action::shutdown},
      {"int", Action::interrupt}, {"k", Action::kill},
      {"check", Action::check},   {"parse", Action::parse},
      {"p", Action::parse},
  };
  for (const auto& [word, action] : rows) {
    const auto parsed = parse({"-k", word});
    ASSERT_TRUE(parsed) << word;
    EXPECT_EQ(parsed->action, action) << word;
  }
}

TEST(SquidCommandLine, RefusesWhatItDoesNotKnow) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"-k"},
                                                                 {"-k", "nope"},
                                                                 {"-k", ""},
                                                                 {"-Q"},
                                                                 {"--nope"},
                                                                 {"-f"},
                                                                 {"word"},
                                                                 {"-a", "80"}}) {
    EXPECT_FALSE(parse(words)) << words[0];
  }
}

}  // namespace
}  // namespace stile::squid
