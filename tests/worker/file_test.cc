// What the spawner writes about a worker is what its keeper reads.
#include "worker/file.h"

#include <gtest/gtest.h>

namespace stile::worker {
namespace {

TEST(WorkerFile, ReadsBackWhatWasWritten) {
  const WorkerFile file{"alpha",
                        "0123abcd",
                        "/mnt/agents/alpha",
                        config::WorkspaceAccess::read,
                        1000,
                        {"sh", "-c", "echo \"x\"\n"},
                        {"opencode", "run"},
                        2,
                        {{"A", "1"}, {"B", "\xc3\xbc"}},
                        {"/srv/data"},
                        {"/srv/out"},
                        64,
                        50,
                        "/run/agent-spawner/workers/alpha/tasks.sock"};
  const auto read = parse_worker_file(worker_file_text(file), "worker.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(worker_file_text(*read), worker_file_text(file));
  EXPECT_EQ(read->environment, file.environment);
  EXPECT_EQ(read->caller, 1000U);
  EXPECT_EQ(read->max_processes, 50U);
  EXPECT_EQ(read->workspace_access, config::WorkspaceAccess::read);
}

TEST(WorkerFile, RefusesWhatTheSpawnerNeverWrites) {
  for (const auto* text :
       {"", "{}", "[]", R"({"id":"a","workspace":"/w"})",
        R"({"id":"../a","workspace":"/w","socket":"/s"})",
        R"({"id":"a","workspace":"w","socket":"/s"})",
        R"({"id":"a","workspace":"/w","socket":"/s","other":1})",
        R"({"id":"a","workspace":"/w","socket":"/s","caller":-1})",
        R"({"id":"a","workspace":"/w","socket":"/s","workspace_access":"all"})",
        R"({"id":"a","workspace":"/w","socket":"/s","environment":{"1":"x"}})"}) {
    EXPECT_FALSE(parse_worker_file(text, "worker.json")) << text;
  }
}

}  // namespace
}  // namespace stile::worker
