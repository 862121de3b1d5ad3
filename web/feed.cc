// Feed: one tail for all pages, and questions to the daemon while a page is open.
#include "web/feed.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/unix_time.h"
#include "control/client.h"
#include "web/worker_list.h"

namespace stile::web {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto tick_time = 250ms;
constexpr auto poll_time = 2000ms;
constexpr auto reconnect_time = 1000ms;
constexpr auto reconnect_asks_time = 15'000ms;  // a daemon without asks is asked again
constexpr auto longest_silence = 15s;           // a proxy between may close an idle stream

std::string request_for(std::string_view action, std::string_view agent = {}) {
  std::string out;
  {
    JsonObject object{out};
    object.add("action", action);
    if (!agent.empty()) object.add("agent", agent);
  }
  return out;
}

// Text in an answer is escaped, quotes too, so that this key can only be the key itself.
std::optional<std::uint64_t> number_after(std::string_view answer, std::string_view key) {
  const auto at = answer.rfind('"' + std::string{key} + "\":");
  if (at == std::string_view::npos) return std::nullopt;
  const auto digits = answer.substr(at + key.size() + 3);
  std::uint64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{}) {
    return std::nullopt;
  }
  return number;
}

// The first rows of the list, and the number of all.
std::string first_connections(const std::string& answer, std::size_t most) {
  constexpr std::string_view border = R"(},{"agent":")";
  std::size_t total = answer.find(R"({"agent":")") == std::string::npos ? 0 : 1;
  std::size_t end = std::string::npos;
  for (auto at = answer.find(border); at != std::string::npos; at = answer.find(border, at + 1)) {
    if (total++ == most) end = at;
  }
  const auto list = answer.find('[');
  if (list == std::string::npos) return R"({"total":0,"connections":[]})";
  std::string rows =
      end == std::string::npos ? answer.substr(list) : answer.substr(list, end - list) + "}]}";
  return R"({"total":)" + std::to_string(total) + R"(,"connections":)" + rows;
}

void add_frame(std::string& out, std::string_view event, std::string_view data) {
  out.append("event: ").append(event).append("\ndata: ").append(data).append("\n\n");
}

constexpr std::array<std::string_view, 6> topic_names{"status",      "strip", "agents",
                                                      "connections", "asks",  "workers"};

}  // namespace

void Feed::Topic::set(std::string fresh) {
  if (version > 0 && fresh == text) return;
  text = std::move(fresh);
  ++version;
}

Feed::Feed(asio::io_context& context, ControlLink& link, ControlLink* spawner)
    : context_{context},
      link_{link},
      spawner_{spawner},
      poll_timer_{context},
      tick_timer_{context} {
  static_assert(topic_names.size() == shared_count);
}

void Feed::start() {
  follow_tail();
  follow_asks();
  poll();
}

void Feed::after(std::chrono::milliseconds time, void (Feed::*what)()) {
  auto timer = std::make_shared<asio::steady_timer>(context_, time);
  timer->async_wait([this, timer, what](const boost::system::error_code& ec) {
    if (!ec) (this->*what)();
  });
}

void Feed::follow_tail() {
  link_.follow(
      request_for("tail"),
      [this](std::string_view line) {
        if (line.starts_with(R"({"event":"missed")")) {
          missed_ += number_after(line, "count").value_or(0);
        } else {
          history_.add(line);
        }
      },
      [this] { after(reconnect_time, &Feed::follow_tail); });
}

// Each line of the stream means that the list has changed.
void Feed::follow_asks() {
  link_.follow(R"({"action":"asks","follow":true})",
               [this](std::string_view line) {
                 if (line.starts_with(R"({"ok":false)")) {
                   open_asks_.clear();
                   topics_[asks].set(R"({"available":false,"asks":[]})");
                 } else {
                   poll_asks();
                 }
               },
               [this] {
                 const bool has_asks = topics_[asks].text.starts_with(R"({"available":true)");
                 after(has_asks ? reconnect_time : reconnect_asks_time, &Feed::follow_asks);
               });
}

void Feed::poll_asks() {
  if (std::exchange(topics_[asks].is_asked, true)) return;
  link_.ask(request_for("asks"), [this](const std::optional<std::string>& answer) {
    topics_[asks].is_asked = false;
    const auto list = answer ? answer->find('[') : std::string::npos;
    if (list == std::string::npos || !control::is_ok(*answer)) {
      open_asks_.clear();
      return topics_[asks].set(R"({"available":false,"asks":[]})");
    }
    open_asks_ = a2a::parse_asks(*answer);
    topics_[asks].set(R"({"available":true,)" + answer->substr(answer->find("\"asks\":")));
  });
}

const a2a::OpenAsk* Feed::ask_of(std::string_view agent) const {
  const auto found = std::find_if(open_asks_.begin(), open_asks_.end(),
                                  [&](const a2a::OpenAsk& one) { return one.agent == agent; });
  return found == open_asks_.end() ? nullptr : &*found;
}

void Feed::poll_workers() {
  if (spawner_ == nullptr || std::exchange(topics_[workers].is_asked, true)) return;
  list_workers(*spawner_, [this](std::string text) {
    topics_[workers].is_asked = false;
    topics_[workers].set(std::move(text));
  });
}

void Feed::poll_topic(Shared name, std::string request) {
  if (std::exchange(topics_[name].is_asked, true)) return;
  link_.ask(std::move(request), [this, name](const std::optional<std::string>& answer) {
    topics_[name].is_asked = false;
    if (!answer || !control::is_ok(*answer)) return;
    topics_[name].set(name == connections ? first_connections(*answer, max_connections_shown)
                                          : *answer);
  });
}

void Feed::set_status(const std::optional<std::string>& answer) {
  const bool is_there = answer && control::is_ok(*answer);
  std::string text;
  {
    JsonObject object{text};
    object.add("connected", is_there).add("missed", missed_);
    if (is_there) object.key("daemon") += *answer;
  }
  topics_[status].set(std::move(text));
  if (!is_there) return;
  const std::pair now{number_after(*answer, "bytes_up").value_or(0),
                      number_after(*answer, "bytes_down").value_or(0)};
  if (bytes_ && now.first >= bytes_->first && now.second >= bytes_->second) {
    history_.add_bytes(unix_micros(), now.first - bytes_->first, now.second - bytes_->second);
  }
  bytes_ = now;
}

void Feed::poll_status() {
  if (std::exchange(topics_[status].is_asked, true)) return;
  link_.ask(request_for("status"), [this](const std::optional<std::string>& answer) {
    topics_[status].is_asked = false;
    set_status(answer);
  });
}

void Feed::poll_details(const WatcherPtr& watcher) {
  const PageView& view = watcher->view;
  if (!view.agent.empty() || !view.host.empty()) {
    watcher->hosts.set(history_.hosts_json(view.agent, view.host));
  }
  if (view.agent.empty() || std::exchange(watcher->agent.is_asked, true)) return;
  link_.ask(request_for("agent", view.agent), [watcher](const std::optional<std::string>& answer) {
    watcher->agent.is_asked = false;
    if (answer) watcher->agent.set(*answer);
  });
}

void Feed::refresh() {
  poll_status();
  if (pages_.empty()) return;
  poll_topic(agents, request_for("agents"));
  poll_topic(connections, request_for("connections"));
  poll_workers();
  topics_[strip].set(history_.strip_json(unix_micros()));
  if (topics_[asks].text.starts_with(R"({"available":true)")) poll_asks();
  for (const auto& watcher : pages_) poll_details(watcher);
}

void Feed::poll() {
  refresh();
  poll_timer_.expires_after(poll_time);
  poll_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) poll();
  });
}

void Feed::add(const std::weak_ptr<OpenPage>& page, PageView view) {
  auto watcher = std::make_shared<Watcher>();
  watcher->page = page;
  watcher->view = std::move(view);
  pages_.push_back(std::move(watcher));
  refresh();
  if (!std::exchange(is_ticking_, true)) tick();
}

void Feed::forget_closed() {
  std::erase_if(pages_, [](const WatcherPtr& watcher) { return watcher->page.expired(); });
}

bool Feed::is_full() {
  forget_closed();
  return pages_.size() >= max_pages;
}

void Feed::tick() {
  forget_closed();
  if (pages_.empty()) {
    is_ticking_ = false;
    return;
  }
  for (const auto& watcher : pages_) tell(*watcher);
  tick_timer_.expires_after(tick_time);
  tick_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) tick();
  });
}

void Feed::tell(Watcher& watcher) {
  const auto page = watcher.page.lock();
  if (!page || !page->is_ready()) return;
  std::string frames;
  for (std::size_t i = 0; i < shared_count; ++i) {
    if (watcher.seen[i] == topics_[i].version) continue;
    if (watcher.view.is_about_workers && i != workers) continue;
    watcher.seen[i] = topics_[i].version;
    add_frame(frames, topic_names[i], topics_[i].text);
  }
  if (std::exchange(watcher.seen_agent, watcher.agent.version) != watcher.agent.version) {
    add_frame(frames, "agent", watcher.agent.text);
  }
  if (std::exchange(watcher.seen_hosts, watcher.hosts.version) != watcher.hosts.version) {
    add_frame(frames, "hosts", watcher.hosts.text);
  }
  const bool is_first = !std::exchange(watcher.has_begun, true);
  const bool wants_lines = !watcher.view.is_about_workers;
  if (wants_lines && (is_first || watcher.next_line < history_.next_number())) {
    const auto news = history_.lines_since(watcher.next_line, watcher.view.filter,
                                           is_first ? lines_at_start : lines_at_once);
    watcher.next_line = history_.next_number();
    // The page that has just opened misses nothing: what it skipped is old.
    const auto skipped = is_first ? 0 : news.skipped;
    if (is_first || news.count + skipped > 0) {
      add_frame(frames, "lines",
                R"({"skipped":)" + std::to_string(skipped) + R"(,"lines":[)" + news.lines + "]}");
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (frames.empty() && now - watcher.last_sent < longest_silence) return;
  if (frames.empty()) frames = ": still here\n\n";
  watcher.last_sent = now;
  page->send(std::move(frames));
}

}  // namespace stile::web
