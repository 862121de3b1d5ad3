// The spawner's audit log, when callers are refused very often.
#include "spawn/journal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace stile::spawn {
namespace {

// How many lines have the text.
std::size_t count_lines(const std::string& path, const std::string& text) {
  std::ifstream file{path};
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.find(text) != std::string::npos;
  return count;
}

TEST(SpawnJournal, BoundsTheLinesOfRefusalsForEachUser) {
  const std::string path = ::testing::TempDir() + "/journal_test.jsonl";
  std::remove(path.c_str());
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().message;
  const Caller loud{1, 1001}, quiet{2, 1002};
  constexpr int many = 20'000;
  for (int i = 0; i < many; ++i) journal->refuse(loud, {"validate_token", "alpha", "not valid"});
  EXPECT_TRUE(journal->grant(loud, {"spawn", "alpha", "template default"}));
  journal->refuse(quiet, {"validate_token", "alpha", "not valid"});
  const auto written = count_lines(path, "uid 1001, pid 1\",\"detail\":\"not valid");
  EXPECT_GE(written, std::size_t{Journal::refusals_at_once});
  EXPECT_LT(written, std::size_t{many} / 4);
  EXPECT_EQ(count_lines(path, "uid 1002"), 1U);
  EXPECT_EQ(count_lines(path, "template default"), 1U);
  std::remove(path.c_str());
}

TEST(SpawnJournal, CountsTheRefusalsWithoutALine) {
  const std::string path = ::testing::TempDir() + "/journal_count_test.jsonl";
  std::remove(path.c_str());
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().message;
  const Caller caller{1, 1001};
  while (count_lines(path, "\"count\":") == 0) {
    for (int i = 0; i < 1000; ++i)
      journal->refuse(caller, {"run", "alpha", "The token is not valid"});
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace stile::spawn
