// Notes of a check: one for each agent, with the first problem of its fence.
#include "netns/check_notes.h"

#include <gtest/gtest.h>

namespace stile::netns {
namespace {

TEST(CheckNotes, NameTheFirstProblemOfEachAgent) {
  CheckReport report;
  report.rows = {{"-", "table", "whole", "whole", true, true},
                 {"alpha", "devices", "whole", "whole", true, true},
                 {"beta", "tcp", "refused", "answered\n", false, true},
                 {"beta", "udp", "refused", "answered", false, true}};
  EXPECT_EQ(check_notes(report),
            (std::vector<std::string>{R"({"action":"note-check","agent":"alpha","holds":true})",
                                      R"({"action":"note-check","agent":"beta","holds":false,)"
                                      R"("reason":"tcp: expected refused, got answered\\x0a"})"}));
}

TEST(CheckNotes, CountWhatAllShareForEach) {
  CheckReport report;
  report.rows = {{"alpha", "devices", "whole", "whole", true, true},
                 {"-", "table", "whole", "missing", false, true}};
  EXPECT_EQ(check_notes(report),
            std::vector<std::string>{R"({"action":"note-check","agent":"alpha","holds":false,)"
                                     R"("reason":"table: expected whole, got missing"})"});
}

TEST(CheckNotes, LeaveOutWhatOpensNothing) {
  CheckReport report;
  report.rows = {{"alpha", "proxy", "answers", "silent", false, false},
                 {"-", "daemon", "answers", "absent", false, false}};
  EXPECT_EQ(check_notes(report),
            std::vector<std::string>{R"({"action":"note-check","agent":"alpha","holds":true})"});
  EXPECT_TRUE(check_notes({}).empty());
}

TEST(CheckNotes, AreShortEnoughForTheDaemon) {
  CheckReport report;
  report.rows = {{"alpha", std::string(500, 'x'), "a", "b", false, true}};
  EXPECT_LT(check_notes(report)[0].size(), 300U);
}

}  // namespace
}  // namespace stile::netns
