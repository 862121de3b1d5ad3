// FileThread: work runs on another thread, and is done when the call returns.
#include "proxy/server/file_thread.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace stile::server {
namespace {

TEST(FileThread, RunsElsewhereAndComesBackWhenDone) {
  FileThread file_thread;
  std::thread::id where;
  file_thread.run([&] { where = std::this_thread::get_id(); });
  EXPECT_NE(where, std::thread::id{});
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(FileThread, ServesManyThreadsOneAtATime) {
  FileThread file_thread;
  int count = 0;  // not atomic: only ever touched on the one thread
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&] {
      for (int n = 0; n < 100; ++n) file_thread.run([&] { ++count; });
    });
  }
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace stile::server
