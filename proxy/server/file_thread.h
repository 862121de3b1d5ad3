// FileThread: one thread that opens files by name for the workers, whose sandbox forbids it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stile::server {

class FileThread {
 public:
  FileThread();
  ~FileThread();
  FileThread(const FileThread&) = delete;
  FileThread& operator=(const FileThread&) = delete;

  // Runs the work on the thread and waits until it is done; from any thread. It must not throw.
  void run(const std::function<void()>& work);

 private:
  void serve();

  std::mutex one_at_a_time_, mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace stile::server
