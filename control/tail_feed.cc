// TailFeed: passes audit lines to watching clients as they are written.
#include "control/tail_feed.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/json.h"

namespace stile::control {
namespace {

// The most that may wait for the main thread.
constexpr std::size_t max_queue_bytes = std::size_t{8} << 20;

// Text from agents is escaped in a line, quotes too, so that this text can only be the key itself.
std::string member(std::string_view key, const std::string& value) {
  return value.empty() ? "" : "\"" + std::string{key} + "\":\"" + value + "\"";
}

}  // namespace

void TailFeed::attach(audit::Log& log) {
  log.add_tap([this](std::string_view lines) { on_lines(lines); });
}

void TailFeed::on_lines(std::string_view lines) {
  if (!is_watched_.load(std::memory_order_relaxed)) return;
  bool must_post = false;
  {
    const std::lock_guard lock{mutex_};
    must_post = queue_.empty() && overflowed_ == 0;
    if (queue_.size() + lines.size() <= max_queue_bytes) {
      queue_ += lines;
    } else {
      overflowed_ += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    }
  }
  if (must_post) boost::asio::post(context_, [this] { deliver(); });
}

void TailFeed::add(const ConnectionPtr& client, const ControlRequest& filter) {
  watchers_[client.get()] = {client, member("agent", filter.agent),
                             member("verdict", filter.verdict), 0};
  is_watched_ = true;
}

void TailFeed::remove(Connection& client) {
  watchers_.erase(&client);
  is_watched_ = !watchers_.empty();
}

void TailFeed::announce(const ConnectionPtr& client, std::string_view line) {
  const auto found = watchers_.find(client.get());
  if (found == watchers_.end()) return;
  if (!client->push(line) && client->is_open()) ++found->second.missed;
}

void TailFeed::announce(std::string_view line) {
  for (const auto& client : clients()) announce(client, line);
}

// A copy: passing lines on may close a client, which removes it.
std::vector<ConnectionPtr> TailFeed::clients() const {
  std::vector<ConnectionPtr> clients;
  for (const auto& [key, watcher] : watchers_) clients.push_back(watcher.client);
  return clients;
}

void TailFeed::deliver() {
  std::string lines;
  std::uint64_t overflowed = 0;
  {
    const std::lock_guard lock{mutex_};
    lines.swap(queue_);
    overflowed = std::exchange(overflowed_, 0);
  }
  for (const auto& client : clients()) {
    std::string_view rest{lines};
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const auto found = watchers_.find(client.get());
      if (found == watchers_.end()) break;
      hand_out(found->second, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (const auto found = watchers_.find(client.get()); found != watchers_.end()) {
      found->second.missed += overflowed;
      tell_missed(found->second);
    }
  }
}

void TailFeed::hand_out(Watcher& watcher, std::string_view line) {
  if (line.empty() || line.find(watcher.agent) == std::string_view::npos ||
      line.find(watcher.verdict) == std::string_view::npos) {
    return;
  }
  // A failed write closes the client and removes the watcher.
  const auto client = watcher.client;
  tell_missed(watcher);
  if (!client->is_open()) return;
  if (watcher.missed > 0 || !client->push(line)) {
    if (client->is_open()) ++watcher.missed;
  }
}

void TailFeed::tell_missed(Watcher& watcher) {
  const auto client = watcher.client;
  // Not as soon as the few bytes fit: the next line would be missed and reported again.
  if (watcher.missed == 0 || !client->has_caught_up()) return;
  std::string line;
  JsonObject{line}.add("event", "missed").add("count", watcher.missed);
  if (client->push(line) && client->is_open()) watcher.missed = 0;
}

}  // namespace stile::control
