// Notices: what `stile notify` tells, gathered and in the form of a webhook. No sockets, no clock.
//
// A webhook is a place outside of the fence: what an agent wrote itself, and the paths of its
// requests, are not passed on. A host name has to be.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json_value.h"

namespace stile::cli {

enum class WebhookFormat : std::uint8_t { json, slack, ntfy };

struct Notice {
  std::string id;    // the same for the same event, also after a restart
  std::string kind;  // "ask", "denials", "budget"
  std::string agent;
  std::string text;  // printable, one line
  Json detail;       // for the JSON format
};

// One message: everything that came at nearly the same time.
struct Message {
  std::string id;
  std::vector<Notice> notices;
};

struct WrittenMessage {
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};
[[nodiscard]] WrittenMessage write_message(const Message& message, WebhookFormat format);

class Notices {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds gather_time{2}, denial_window{60};
  static constexpr std::uint64_t many_denials = 20;  // in a window, of one agent
  static constexpr std::size_t max_waiting = 200;    // notices; what is more is only counted
  static constexpr std::size_t max_known = 10'000;

  void take_asks(const Json& asks, Time now);        // of the first answer
  void take_ask_event(const Json& event, Time now);  // a line that follows
  void take_denial(const std::string& agent, const std::string& reason, std::uint64_t count,
                   Time now);
  void take_agents(const Json& agents, Time now);  // with their budgets
  // What is due; nullopt: nothing yet.
  [[nodiscard]] std::optional<Message> due(Time now);

 private:
  struct Denials {
    Time since;
    std::map<std::string, std::uint64_t> reasons;
    bool is_told = false;
  };
  void add(Notice notice, Time now);
  void add_ask(const Json& ask, Time now);
  using AmountText = std::string (*)(std::uint64_t);
  void look_at_budget(const std::string& id, const std::string& name, const Json& budget,
                      AmountText amount, Time now);

  std::deque<Notice> waiting_;
  std::uint64_t left_out_ = 0;
  Time first_{};  // when the oldest one that waits came
  std::set<std::string> known_asks_, low_budgets_;
  std::map<std::string, Denials> denials_;
};

}  // namespace stile::cli
