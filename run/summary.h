// Summary: the requests of the command: the first refusal of each host immediately, and a short
// summary when the command has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"
#include "config/settings.h"

namespace stile::run {

// Counts from audit lines, so that it agrees with the log. Thread-safe.
class Summary {
 public:
  // Takes a line for people, without its newline. It is called under a lock and must not block.
  using Tell = std::function<void(std::string line)>;
  // The command that allows a pattern while this one runs: the text before and after the pattern.
  // Empty before: there is no such command.
  struct Grant {
    std::string before, after;
  };

  // Refusals of these hosts are counted, but not listed: the agent does not need them. Call all of
  // these before the first line is added.
  // Refusals that the profile expects. Set once, before other threads ask.
  [[nodiscard]] bool is_harmless(const std::string& host) const;
  void set_harmless(std::vector<config::PlacedPattern> patterns) {
    harmless_ = std::move(patterns);
  }
  void set_live(Tell tell, Grant grant);
  void set_policy(std::shared_ptr<const acl::AgentPolicy> policy) { policy_ = std::move(policy); }

  // Something that the user must know: printed immediately on a terminal, and at the end.
  void note(const std::string& line);

  // The person at the terminal has said no to this ask: its refusals are not printed immediately.
  void refused_by_person(const std::string& ask);

  // Complete lines of JSON with their newlines, as the log writes them.
  void add(std::string_view lines);

  // Waits until all opened connections are closed, up to a time limit.
  void wait_until_closed(std::chrono::milliseconds longest);

  // For standard error. Empty if there were no requests.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t requests() const;

 private:
  struct Refused {
    std::string verb, host, reason;
    std::string option, pattern;  // would allow it; the pattern may be empty
    std::string cause;            // in words, if no pattern helps
    std::uint64_t count = 0;
    bool is_only_observed = false;
    [[nodiscard]] std::string words() const;
    [[nodiscard]] std::string flag() const { return option + ' ' + pattern; }
  };
  void add_line(std::string_view line);
  void add_refusal(const std::string& key, Refused refused, bool is_known);
  void tell(const Refused& refused);
  [[nodiscard]] static std::string flags(const std::vector<const Refused*>& all);

  std::shared_ptr<const acl::AgentPolicy> policy_;  // for advice; null: unknown

  std::vector<config::PlacedPattern> harmless_;
  Tell tell_;
  Grant grant_;
  std::size_t told_ = 0;
  std::set<std::string> refused_asks_;  // by the person at the terminal
  mutable std::mutex mutex_;
  std::condition_variable closed_one_;
  std::uint64_t let_through_ = 0, closed_ = 0, refused_ = 0, observed_ = 0, harmless_refused_ = 0;
  std::uint64_t bytes_up_ = 0, bytes_down_ = 0;
  std::map<std::string, Refused> hosts_;
  std::uint64_t left_out_ = 0;  // refusals of hosts beyond the limit
  std::string notes_;
};

}  // namespace stile::run
