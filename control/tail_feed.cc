// TailFeed: passes audit lines to watching clients as they are written.
#include "control/tail_feed.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "base/json.h"

namespace stile::control {
namespace {

// The most that may wait for the main thread.
constexpr std::size_t max_queue_bytes = std::size_t{8} << 20;
constexpr std::size_t max_kept_bytes = std::size_t{256} << 10;
constexpr std::chrono::milliseconds time_between_looks{20};

// Text from agents is escaped in a line, quotes too, so that this text can only be the key itself.
std::string member(std::string_view key, const std::string& value) {
  return value.empty() ? "" : "\"" + std::string{key} + "\":\"" + value + "\"";
}

}  // namespace

void TailFeed::attach(audit::Log& log) {
  log.add_tap([this](std::string_view lines) { on_lines(lines); });
}

// The copy is all that a line costs the thread that wrote it: a wake-up of the main thread takes
// longer than the line itself, so there is one only after a pause.
void TailFeed::on_lines(std::string_view lines) {
  if (!is_watched_.load(std::memory_order_relaxed)) return;
  bool must_wake = false;
  {
    const std::lock_guard lock{mutex_};
    if (queue_.size() + lines.size() <= max_queue_bytes) {
      queue_ += lines;
    } else {
      overflowed_ += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    }
    must_wake = !std::exchange(is_expected_, true);
  }
  if (must_wake) boost::asio::post(context_, [this] { look(); });
}

void TailFeed::look() {
  {
    const std::lock_guard lock{mutex_};
    is_expected_ = !queue_.empty() || overflowed_ > 0;
    if (!is_expected_) return;
  }
  deliver();
  timer_.expires_after(time_between_looks);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) look();
  });
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
  client->send_pushed();
}

void TailFeed::announce(std::string_view line) {
  deliver();
  for (const auto& client : clients()) announce(client, line);
}

// A copy: passing lines on may close a client, which removes it.
std::vector<ConnectionPtr> TailFeed::clients() const {
  std::vector<ConnectionPtr> clients;
  for (const auto& [key, watcher] : watchers_) clients.push_back(watcher.client);
  return clients;
}

void TailFeed::deliver() {
  std::string lines = std::exchange(spare_, {});
  std::uint64_t overflowed = 0;
  {
    const std::lock_guard lock{mutex_};
    lines.swap(queue_);  // writers get the memory of the last time and need not grow a new string
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
    client->send_pushed();
  }
  lines.clear();
  if (lines.capacity() <= max_kept_bytes) spare_ = std::move(lines);
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
