// FileThread: one thread that opens files by name for the workers, whose sandbox forbids it.
#include "proxy/server/file_thread.h"

#include <pthread.h>

#include <csignal>

namespace stile::server {

FileThread::FileThread() : thread_{[this] { serve(); }} {}

FileThread::~FileThread() {
  {
    const std::lock_guard lock{mutex_};
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FileThread::run(const std::function<void()>& work) {
  const std::lock_guard turn{one_at_a_time_};
  std::unique_lock lock{mutex_};
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void FileThread::serve() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the main thread handles signals
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || work_ != nullptr; });
    if (work_ == nullptr) return;
    (*work_)();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace stile::server
