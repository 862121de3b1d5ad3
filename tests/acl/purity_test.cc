// The policy core stays pure: no I/O, no clock, no errno, no streams in its sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace {

TEST(Purity, NoSourceOfTheCoreNamesTheOutsideWorld) {
  const std::regex forbidden{
      R"(asio|<chrono>|_clock|\berrno\b|<cerrno>|<iostream>|<fstream>|<sstream>|<cstdio>|<unistd\.h>)"
      R"(|<sys/|<netdb|<arpa/|<ctime>|std::c(out|err|in)\b|printf)"};
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{STILE_ACL_DIR}) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    ++files;
    std::ifstream file{entry.path()};
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      EXPECT_FALSE(std::regex_search(line, forbidden))
          << entry.path().filename() << ':' << number << ": " << line;
    }
  }
  EXPECT_GT(files, 20);
}

TEST(Purity, OnlyOneFileKnowsTheRegexLibrary) {
  int users = 0;
  for (const auto& entry : std::filesystem::directory_iterator{STILE_ACL_DIR}) {
    std::ifstream file{entry.path()};
    std::stringstream content;
    content << file.rdbuf();
    users += content.str().find("#include <re2/re2.h>") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(users, 1);
}

}  // namespace
