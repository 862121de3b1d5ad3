// NameBook: addresses of names for many agents, and their file.
#include "proxy/dns/name_book.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace stile::dns {
namespace {

using std::chrono::seconds;
namespace fs = std::filesystem;

const acl::Prefix whole_subnet{acl::Address::v4(0xc6120000), 15};
constexpr SteadyTime begin_time{};

std::shared_ptr<const acl::AgentPolicy> make_agent(const char* id, const char* instance = "") {
  auto agent = std::make_shared<acl::AgentPolicy>();
  agent->id = id;
  agent->instance = instance;
  agent->account = std::make_shared<acl::Account>();
  return agent;
}

acl::Snapshot snapshot_of(std::vector<std::shared_ptr<const acl::AgentPolicy>> agents) {
  return {1, std::move(agents)};
}

class NameBookFile : public testing::Test {
 protected:
  NameBookFile() : directory_{fs::path{testing::TempDir()} / "stile-names-XXXXXX"} {
    std::string pattern = directory_.string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~NameBookFile() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string text() const {
    std::ifstream file{directory_ / "names"};
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write(const std::string& content) const { std::ofstream{directory_ / "names"} << content; }

  fs::path directory_;
};

TEST(NameBook, KeepsAgentsApart) {
  NameBook book{whole_subnet};
  const auto alpha = make_agent("alpha"), beta = make_agent("beta");
  const auto a = book.stand_in(*alpha, "a.test", begin_time);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(book.find(*alpha, a->address), a);
  EXPECT_EQ(book.find(*beta, a->address), nullptr);
  static_cast<void>(book.stand_in(*beta, "b.test", begin_time));
  const auto found = book.find(*beta, a->address);
  EXPECT_TRUE(found == nullptr || found->name == "b.test");
}

TEST(NameBook, ForgetsAnAgentThatIsReplaced) {
  NameBook book{whole_subnet};
  const auto first = make_agent("alpha", "one"), second = make_agent("alpha", "two");
  const auto address = book.stand_in(*first, "a.test", begin_time)->address;
  EXPECT_EQ(book.find(*second, address), nullptr);
  book.keep_only(snapshot_of({second}));
  EXPECT_EQ(book.find(*first, address), nullptr);
}

TEST(NameBook, ReportsARefusedNameOnceAMinute) {
  NameBook book{whole_subnet};
  const auto alpha = make_agent("alpha"), beta = make_agent("beta");
  EXPECT_TRUE(book.is_news(*alpha, "a.test", begin_time));
  EXPECT_FALSE(book.is_news(*alpha, "a.test", begin_time + seconds{59}));
  EXPECT_TRUE(book.is_news(*alpha, "b.test", begin_time));
  EXPECT_TRUE(book.is_news(*beta, "a.test", begin_time));
  EXPECT_TRUE(book.is_news(*alpha, "a.test", begin_time + seconds{60}));
}

TEST(NameBook, RemembersABoundedNumberOfRefusals) {
  NameBook book{whole_subnet};
  const auto alpha = make_agent("alpha");
  for (std::size_t i = 0; i < 2 * NameBook::max_refusals; ++i) {
    EXPECT_TRUE(book.is_news(*alpha, "n" + std::to_string(i), begin_time));
  }
  EXPECT_FALSE(book.is_news(*alpha, "n0", begin_time));
  EXPECT_TRUE(book.is_news(*alpha, "n1500", begin_time));  // was not remembered
  EXPECT_TRUE(book.is_news(*alpha, "new", begin_time + NameBook::refusal_interval));
  EXPECT_FALSE(book.is_news(*alpha, "new", begin_time + NameBook::refusal_interval));
}

TEST_F(NameBookFile, RestoresWhatAnEarlierProcessGaveAway) {
  const auto agents = snapshot_of({make_agent("alpha", "one"), make_agent("beta")});
  const auto& alpha = **agents.by_id("alpha");
  const auto& beta = **agents.by_id("beta");
  acl::Address a, b;
  {
    NameBook book{whole_subnet};
    ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
    a = book.stand_in(alpha, "a.test", begin_time)->address;
    b = book.stand_in(beta, "b.test", begin_time)->address;
    static_cast<void>(book.stand_in(beta, "b.test", begin_time));  // no second line
    EXPECT_EQ(text(), "");  // those of many answers are written with one call
    book.write_new();
    book.write_new();  // nothing is new
  }
  EXPECT_EQ(text(), "alpha one a.test " + a.text() + "\nbeta - b.test " + b.text() + "\n");
  NameBook again{whole_subnet};
  ASSERT_TRUE(again.keep_in(directory_.string(), agents, begin_time));
  EXPECT_EQ(again.find(alpha, a)->name, "a.test");
  EXPECT_EQ(again.find(beta, b)->name, "b.test");
  EXPECT_EQ(again.stand_in(alpha, "a.test", begin_time)->address, a);
}

TEST_F(NameBookFile, RestoresNothingOfAnotherInstance) {
  write("alpha one a.test 198.18.0.9\ngamma - a.test 198.18.0.9\n");
  const auto agents = snapshot_of({make_agent("alpha", "two")});
  NameBook book{whole_subnet};
  ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
  EXPECT_EQ(book.find(**agents.by_id("alpha"), *acl::Address::parse("198.18.0.9")), nullptr);
  EXPECT_EQ(text(), "");
}

TEST_F(NameBookFile, RestoresTheNewestNamesOfTooMany) {
  const auto agents = snapshot_of({make_agent("alpha"), make_agent("beta")});
  const auto& alpha = **agents.by_id("alpha");
  constexpr std::uint32_t extra = 10, first = 0xc6120002;
  std::string content = "beta - b.test 198.18.0.9\n";
  for (std::uint32_t i = 0; i < AgentNames::max_names + extra; ++i) {
    content +=
        "alpha - n" + std::to_string(i) + ".test " + acl::Address::v4(first + i).text() + "\n";
  }
  write(content + "alpha - cut.test 198.19.0.");
  NameBook book{whole_subnet};
  ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
  EXPECT_EQ(book.find(alpha, acl::Address::v4(first + extra - 1)), nullptr);
  const auto oldest = book.find(alpha, acl::Address::v4(first + extra));
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(oldest->name, "n10.test");
  const auto newest = book.find(alpha, acl::Address::v4(first + AgentNames::max_names + extra - 1));
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(newest->name, "n4105.test");
  EXPECT_EQ(book.find(**agents.by_id("beta"), *acl::Address::parse("198.18.0.9"))->name, "b.test");
  // The file has them in the order in which they were given, as before.
  EXPECT_EQ(text().find("n9.test"), std::string::npos);
  EXPECT_LT(text().find("n10.test"), text().find("n11.test"));
  EXPECT_LT(text().find("n11.test"), text().find("n4105.test"));
}

TEST_F(NameBookFile, RestoresANameThatIsStillAskedFor) {
  const auto agents = snapshot_of({make_agent("alpha")});
  const auto& alpha = **agents.by_id("alpha");
  acl::Address used;
  {
    NameBook book{whole_subnet};
    ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
    for (std::uint32_t i = 0; i < 3 * AgentNames::max_names; ++i) {
      const SteadyTime now = begin_time + i * AgentNames::ttl;
      used = book.stand_in(alpha, "used.test", now)->address;
      ASSERT_NE(book.stand_in(alpha, "n" + std::to_string(i) + ".test", now), nullptr);
      book.write_new();
    }
  }
  NameBook book{whole_subnet};
  ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
  const auto found = book.find(alpha, used);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "used.test");
}

TEST_F(NameBookFile, RestoresTheLastNameOfAnAddress) {
  write(
      "alpha - old.test 198.18.0.9\nalpha - moved.test 198.18.0.8\n"
      "alpha - new.test 198.18.0.9\nalpha - moved.test 198.18.0.10\n");
  const auto agents = snapshot_of({make_agent("alpha")});
  const auto& alpha = **agents.by_id("alpha");
  NameBook book{whole_subnet};
  ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
  const auto name_at = [&](const char* address) {
    const auto found = book.find(alpha, *acl::Address::parse(address));
    return found ? found->name : "nothing";
  };
  EXPECT_EQ(name_at("198.18.0.9"), "new.test");
  EXPECT_EQ(name_at("198.18.0.10"), "moved.test");
  EXPECT_EQ(name_at("198.18.0.8"), "nothing");
}

TEST_F(NameBookFile, IsWrittenAgainWhenItIsMostlyOutdated) {
  const auto agents = snapshot_of({make_agent("alpha")});
  const auto& alpha = **agents.by_id("alpha");
  const acl::Prefix few{acl::Address::v4(0xc6120000), 29};
  NameBook book{few};
  ASSERT_TRUE(book.keep_in(directory_.string(), agents, begin_time));
  const std::string long_name(60, 'n');
  for (int i = 0; i < 2000; ++i) {
    const SteadyTime now = begin_time + i * AgentNames::ttl;
    ASSERT_NE(book.stand_in(alpha, long_name + std::to_string(i) + ".test", now), nullptr);
    book.write_new();
  }
  EXPECT_GT(text().size(), 100'000U);
  book.tidy();
  EXPECT_LT(text().size(), 1'000U);
  static_cast<void>(book.stand_in(alpha, "last.test", begin_time + 3000 * AgentNames::ttl));
  book.write_new();
  EXPECT_NE(text().find("last.test"), std::string::npos);
}

TEST(NameLine, SurvivesACutAtEveryByte) {
  const std::string whole = "alpha - a.test 198.18.0.9\nbeta two b.test 198.18.0.10\n";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::string_view left{whole.data(), size};
    int lines = 0;
    while (!left.empty()) {
      NameLine line;
      if (!take_name_line(left, line)) continue;
      ++lines;
      EXPECT_EQ(line.name, lines == 1 ? "a.test" : "b.test");
    }
    EXPECT_EQ(lines, size == whole.size() ? 2 : size >= whole.find('\n') + 1 ? 1 : 0) << size;
  }
}

TEST(NameLine, RefusesWhatNoProcessOfOursWrites) {
  for (const auto* text : {"\n", "alpha\n", "alpha - a.test\n", "alpha - a.test x\n",
                           " - a.test 198.18.0.9\n", "alpha - A.test 198.18.0.9\n",
                           "alpha - a..test 198.18.0.9\n", "alpha - 1.2.3.4 198.18.0.9\n",
                           "alpha - a.test 198.18.0.9 \n", "alpha - a.test. 198.18.0.9\n"}) {
    std::string_view left{text};
    NameLine line;
    EXPECT_FALSE(take_name_line(left, line)) << text;
    EXPECT_TRUE(left.empty()) << text;
  }
}

}  // namespace
}  // namespace stile::dns
