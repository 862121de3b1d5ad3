// Feed: follows the daemon and passes news to the pages that are open, at most four times a second.
//
// A page that reads slowly gets the newest state later. Nothing waits for it in memory but one
// write.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "a2a/task.h"
#include "web/control_link.h"
#include "web/history.h"

namespace stile::web {

// An open page.
class OpenPage {
 public:
  OpenPage() = default;
  virtual ~OpenPage() = default;
  OpenPage(const OpenPage&) = delete;
  OpenPage& operator=(const OpenPage&) = delete;
  [[nodiscard]] virtual bool is_ready() const = 0;  // everything sent before was written
  virtual void send(std::string frames) = 0;
};

// What a page looks at.
struct PageView {
  Filter filter;
  std::string agent, host;        // whose details it shows; empty: none
  bool is_about_workers = false;  // it gets nothing but the list of workers
};

class Feed {
 public:
  static constexpr std::size_t max_pages = 16;
  static constexpr std::size_t lines_at_once = 400;
  static constexpr std::size_t lines_at_start = 1000;
  static constexpr std::size_t max_connections_shown = 200;

  // `spawner` is null if there is none.
  Feed(boost::asio::io_context& context, ControlLink& link, ControlLink* spawner);
  void start();
  [[nodiscard]] bool is_full();
  // The page gets everything at once, then what is new, until its pointer expires.
  void add(const std::weak_ptr<OpenPage>& page, PageView view);
  // Something was changed through this server: the pages see it without delay.
  void refresh();
  [[nodiscard]] const History& history() const noexcept { return history_; }
  // The request of that agent that waits for a person; null: none does.
  [[nodiscard]] const a2a::OpenAsk* ask_of(std::string_view agent) const;

 private:
  // A text that replaces the one before.
  struct Topic {
    std::string text;
    std::uint64_t version = 0;
    bool is_asked = false;  // an answer is awaited
    void set(std::string fresh);
  };
  enum Shared : std::size_t { status, strip, agents, connections, asks, workers, shared_count };
  struct Watcher {
    std::weak_ptr<OpenPage> page;
    PageView view;
    std::uint64_t next_line = 0;
    bool has_begun = false;
    std::array<std::uint64_t, shared_count> seen{};
    Topic agent, hosts;
    std::uint64_t seen_agent = 0, seen_hosts = 0;
    std::chrono::steady_clock::time_point last_sent{};
  };
  using WatcherPtr = std::shared_ptr<Watcher>;

  void follow_tail();
  void follow_asks();
  void poll();
  void poll_status();
  void poll_asks();
  void poll_workers();
  void poll_topic(Shared name, std::string request);
  void poll_details(const WatcherPtr& watcher);
  void set_status(const std::optional<std::string>& answer);
  void forget_closed();
  void tick();
  void tell(Watcher& watcher);
  void after(std::chrono::milliseconds time, void (Feed::*what)());

  boost::asio::io_context& context_;
  ControlLink& link_;
  ControlLink* spawner_;
  boost::asio::steady_timer poll_timer_, tick_timer_;
  History history_;
  std::array<Topic, shared_count> topics_;
  std::vector<a2a::OpenAsk> open_asks_;
  std::list<WatcherPtr> pages_;
  bool is_ticking_ = false;
  std::uint64_t missed_ = 0;  // lines that the daemon did not pass on
  std::optional<std::pair<std::uint64_t, std::uint64_t>> bytes_;  // up and down, at the last look
};

}  // namespace stile::web
