// PolicyEditor: what a reload leaves behind.
#include "control/policy_editor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audit/log.h"
#include "tests/control/live.h"

namespace stile::control {
namespace {

constexpr const char* one_agent = R"(
[[agent]]
id = "alpha"
source = ["10.0.0.1"]
allow = ["example.com"]
)";

// Reads the config, and remembers how many of its earlier readings were still in memory. Readings
// and the freeing of old ones happen on one thread, one after the other.
struct CountingReader {
  std::vector<std::weak_ptr<const acl::AgentPolicy>> made;
  std::size_t most_alive = 0;

  config::Checked<Reading> read() {
    const auto alive = std::count_if(made.begin(), made.end(),
                                     [](const auto& policy) { return !policy.expired(); });
    most_alive = std::max(most_alive, static_cast<std::size_t>(alive));
    auto reading = reader_of(one_agent)({});
    if (reading) made.emplace_back(reading->agents.front());
    return reading;
  }
};

TEST(PolicyEditor, ReloadsInQuickSuccessionDoNotPileUp) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("stile-editor-" + std::to_string(::getpid()) + ".jsonl");
  audit::Log::Options options;
  options.path = path.string();
  auto log = audit::Log::open(options);
  ASSERT_TRUE(log);
  boost::asio::io_context context;
  const auto work = boost::asio::make_work_guard(context);
  CountingReader reader;
  PolicyEditor editor{context, [&](const auto&) { return reader.read(); }, live_of(one_agent),
                      std::nullopt};
  editor.start(**log, {[](const auto&) {}, [] {}, [] {}, [] {}, [](const auto&) {}});

  for (int i = 0; i < 30; ++i) {
    std::string outcome;
    editor.reload("test", [&](const Outcome<ReloadResult>& result) {
      outcome = result ? "done" : result.error().message;
    });
    while (outcome.empty()) context.run_one();
    ASSERT_EQ(outcome, "done");
  }
  editor.stop();
  // The one in force and the one that it replaced; never thirty.
  EXPECT_EQ(reader.made.size(), 30U);
  EXPECT_LE(reader.most_alive, 2U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace stile::control
