// History: what the audit lines of the daemon say, bounded: the last lines, the last hour by
// minute, and the hosts of each agent. Text goes in, JSON comes out; no clock and no socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/unix_time.h"

namespace stile::audit {
class Line;
}

namespace stile::web {

// Which lines a page shows. An empty text matches every line.
struct Filter {
  std::string agent, verdict;
  std::string host;            // part of the name, in lower case
  bool host_is_whole = false;  // the host is the whole name
};

class History {
 public:
  static constexpr std::size_t max_lines = 5000;
  static constexpr std::size_t max_line_bytes = std::size_t{6} << 20;  // of all these lines
  static constexpr std::size_t max_agents = 1024;
  static constexpr std::size_t max_host_rows = 20'000;
  // An agent that names many hosts pushes out its own rows, never those of another agent.
  static constexpr std::size_t max_hosts_per_agent = 256;
  static constexpr std::size_t max_rows = 200;  // of one answer
  static constexpr std::size_t minutes = 60;

  // A line that Stile did not write is ignored.
  void add(std::string_view line);
  // Bytes that flowed since the last call, at this time.
  void add_bytes(UnixMicros now, std::uint64_t up, std::uint64_t down);

  // The number of the next line to come: for a reader that has seen everything.
  [[nodiscard]] std::uint64_t next_number() const noexcept { return next_; }
  struct News {
    std::string lines;  // JSON objects with commas between them
    std::uint64_t skipped = 0;
    std::size_t count = 0;
  };
  // The lines from number `from` on that match, and of those the newest `most`.
  [[nodiscard]] News lines_since(std::uint64_t from, const Filter& filter, std::size_t most) const;

  // [{"t":unix seconds,"allowed":…,"denied":…,"bytes_up":…,"bytes_down":…},…], the oldest first.
  [[nodiscard]] std::string strip_json(UnixMicros now) const;
  // {"hosts":[…]}: the rows of one agent, or of one host, or all; the newest first.
  [[nodiscard]] std::string hosts_json(const std::string& agent, const std::string& host) const;

 private:
  struct Shown {
    std::string line, agent, verdict, host;
  };
  struct Minute {
    std::int64_t number = -1;  // since the epoch
    std::uint64_t allowed = 0, denied = 0, up = 0, down = 0;
  };
  struct HostRow {
    std::uint64_t allowed = 0, denied = 0, would_deny = 0, up = 0, down = 0;
    UnixMicros first = 0, last = 0;
    std::string reason;  // of the last refusal
  };
  using HostRows = std::map<std::string, HostRow>;

  Minute& minute_at(UnixMicros time);
  HostRow* row_of(const std::string& agent, const std::string& host);
  void count(const audit::Line& line, std::string_view event, UnixMicros time);
  [[nodiscard]] static bool matches(const Shown& shown, const Filter& filter);

  std::deque<Shown> shown_;
  std::size_t shown_bytes_ = 0;
  std::uint64_t next_ = 0;  // the number of shown_.back(), plus one
  std::array<Minute, minutes> ring_{};
  std::map<std::string, HostRows> agents_;
  std::size_t row_count_ = 0;
};

}  // namespace stile::web
