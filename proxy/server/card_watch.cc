// CardWatch: inotify on the directories of agent cards.
#include "proxy/server/card_watch.h"

#include <sys/inotify.h>

#include <array>
#include <chrono>
#include <utility>

#include "proxy/base/log.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;

// A card that is written in place counts when it is closed, one that is renamed into its place at
// once. A ConfigMap changes by renaming its `..data`, which counts the same way.
constexpr std::uint32_t interesting = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                      IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                      IN_ONLYDIR;
// Several changes in a row cause one reading.
constexpr std::chrono::milliseconds quiet_time{100};

}  // namespace

CardWatch::CardWatch(asio::io_context& context, std::function<void()> on_change)
    : events_{context}, settled_{context}, on_change_{std::move(on_change)} {}

void CardWatch::watch(std::vector<std::string> directories) {
  if (directories == directories_) return;
  directories_ = std::move(directories);
  watches_.clear();
  boost::system::error_code ignored;
  if (events_.is_open()) events_.close(ignored);
  if (directories_.empty()) return;
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    log::error("the card directories cannot be watched; reload after a change");
    return;
  }
  events_.assign(fd);
  events_.non_blocking(true, ignored);
  for (const auto& directory : directories_) {
    const int watch = ::inotify_add_watch(fd, directory.c_str(), interesting);
    if (watch >= 0) watches_[directory] = watch;
  }
  wait();
}

void CardWatch::look_again() {
  if (!events_.is_open()) return;
  for (const auto& directory : directories_) {
    // The same inode gives the same number; another one, or none, is a change.
    const int watch = ::inotify_add_watch(events_.native_handle(), directory.c_str(), interesting);
    const auto known = watches_.find(directory);
    const int before = known == watches_.end() ? -1 : known->second;
    if (watch == before) continue;
    if (watch >= 0) {
      watches_[directory] = watch;
    } else {
      watches_.erase(directory);
    }
    settle();
  }
}

void CardWatch::stop() {
  boost::system::error_code ignored;
  if (events_.is_open()) events_.close(ignored);
  settled_.cancel();
}

void CardWatch::wait() {
  events_.async_wait(asio::posix::descriptor_base::wait_read,
                     [this](const boost::system::error_code& ec) {
                       if (ec) return;
                       std::array<char, 16384> unread;
                       boost::system::error_code ignored;
                       while (events_.read_some(asio::buffer(unread), ignored) > 0) {
                       }
                       settle();
                       wait();
                     });
}

// Counts from the first change, not from the last: a directory that changes all the time is still
// read.
void CardWatch::settle() {
  if (is_settling_) return;
  is_settling_ = true;
  settled_.expires_after(quiet_time);
  settled_.async_wait([this](const boost::system::error_code& ec) {
    is_settling_ = false;
    if (!ec) on_change_();
  });
}

}  // namespace stile::server
