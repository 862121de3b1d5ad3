// run_command: programs that end well, badly, late or not at all.
#include "base/run_command.h"

#include <gtest/gtest.h>

namespace stile {
namespace {

Result<std::string> shell(const std::string& script, std::size_t most = 100,
                          std::chrono::milliseconds longest = std::chrono::seconds{30}) {
  return run_command({"/bin/sh", "-c", script}, most, longest);
}

TEST(RunCommand, ReturnsWhatIsPrinted) {
  const auto text = shell("echo one; cat; echo two");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "one\ntwo\n");
}

TEST(RunCommand, FailsWithTheProgramAndNeverShowsItsOutput) {
  for (const auto* script : {"echo hidden; exit 3", "echo hidden; kill -9 $$",
                             "printf 'hidden%.0s' 1 2 3 4 5 6 7 8 9 "
                             "10 11 12 13 14 15 16 17 18 19 20"}) {
    const auto text = shell(script);
    ASSERT_FALSE(text) << script;
    EXPECT_EQ(text.error().message.find("hidden"), std::string::npos);
  }
  EXPECT_FALSE(run_command({"/nonexistent/program"}, 10, std::chrono::seconds{1}));
  EXPECT_FALSE(run_command({}, 10, std::chrono::seconds{1}));
}

TEST(RunCommand, EndsWhatTakesTooLong) {
  EXPECT_FALSE(shell("sleep 100", 100, std::chrono::milliseconds{50}));
}

// The background process keeps the output open, and is killed with its group.
TEST(RunCommand, DoesNotWaitForWhatIsLeftBehind) {
  EXPECT_FALSE(shell("echo x; sleep 100 &", 100, std::chrono::milliseconds{200}));
  const auto text = shell("echo x; sleep 100 >/dev/null &");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "x\n");
}

}  // namespace
}  // namespace stile
