// What the daemon writes for -k, and what -k reads of it.
#include "squid/outcome_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stile::squid {
namespace {

using About = OutcomeFile::Action;
using std::chrono::seconds;

class OutcomeFileTest : public testing::Test {
 protected:
  OutcomeFileTest() {
    folder_ = testing::TempDir() + "outcome_XXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    pid_file_ = folder_ + "/squid.pid";
  }
  ~OutcomeFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] OutcomeFile daemon() const { return *OutcomeFile::create(pid_file_); }
  [[nodiscard]] OutcomeFile asker() const { return *OutcomeFile::open(pid_file_); }
  [[nodiscard]] std::string name() const { return pid_file_ + ".outcome"; }

  std::string folder_, pid_file_;
  const OutcomeFile::Time now_ = std::chrono::steady_clock::now();
};

TEST_F(OutcomeFileTest, TellsSuccessAndFailureApart) {
  const auto file = daemon();
  EXPECT_FALSE(asker().read(About::reconfigure, now_));
  file.write(About::reconfigure, now_, {true, "generation 2"});
  EXPECT_EQ(asker().read(About::reconfigure, now_).value().text, "generation 2");
  file.write(About::reconfigure, now_ + seconds{1},
             {false, "squid.conf:3: bad\nsquid.conf:4: bad"});
  const auto refused = asker().read(About::reconfigure, now_).value();
  EXPECT_FALSE(refused.is_done);
  EXPECT_EQ(refused.text, "squid.conf:3: bad\nsquid.conf:4: bad");
}

TEST_F(OutcomeFileTest, KeepsActionsApart) {
  const auto file = daemon();
  file.write(About::reconfigure, now_, {true, "reloaded"});
  EXPECT_FALSE(asker().read(About::rotate, now_));
  file.write(About::rotate, now_, {true, "reopened"});
  EXPECT_EQ(asker().read(About::reconfigure, now_).value().text, "reloaded");
  EXPECT_EQ(asker().read(About::rotate, now_).value().text, "reopened");
}

TEST_F(OutcomeFileTest, IgnoresWhatBeganBeforeItWasAsked) {
  const auto file = daemon();
  file.write(About::reconfigure, now_ - seconds{1}, {true, "an earlier one"});
  EXPECT_FALSE(asker().read(About::reconfigure, now_));
}

TEST_F(OutcomeFileTest, ReadsNothingOfAHalfWrittenOutcome) {
  daemon().write(About::reconfigure, now_, {true, "not written: the file is gone again"});
  const auto file = daemon();
  file.write(About::reconfigure, now_, {true, "the whole text"});
  const auto size = std::filesystem::file_size(name());
  for (auto cut = size; cut-- > 0;) {
    std::filesystem::resize_file(name(), cut);
    EXPECT_FALSE(asker().read(About::reconfigure, now_)) << cut;
  }
}

TEST_F(OutcomeFileTest, AShorterTextReplacesALongerOne) {
  const auto file = daemon();
  file.write(About::reconfigure, now_, {false, std::string(100'000, 'x')});
  EXPECT_GT(asker().read(About::reconfigure, now_).value().text.size(), 10'000U);
  file.write(About::reconfigure, now_ + seconds{1}, {true, "short"});
  EXPECT_EQ(asker().read(About::reconfigure, now_).value().text, "short");
}

TEST_F(OutcomeFileTest, ShowsNoControlBytesToATerminal) {
  const auto file = daemon();
  file.write(About::reconfigure, now_, {true, "\x1b[2Jcleared"});
  EXPECT_EQ(asker().read(About::reconfigure, now_).value().text, "\\x1b[2Jcleared");
}

TEST_F(OutcomeFileTest, IsNotWrittenThroughALink) {
  std::ofstream{folder_ + "/victim"} << "precious";
  std::filesystem::create_symlink(folder_ + "/victim", name());
  daemon().write(About::reconfigure, now_, {true, "text"});
  std::string content;
  std::ifstream{folder_ + "/victim"} >> content;
  EXPECT_EQ(content, "precious");
}

TEST_F(OutcomeFileTest, WritesNothingWithoutAPidFile) {
  auto file = OutcomeFile::create("");
  ASSERT_TRUE(file.has_value());
  file->write(About::rotate, now_, {true, "text"});
}

}  // namespace
}  // namespace stile::squid
