// Seen: the requests of agents and their outcomes, collected from audit logs.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "acl/pattern.h"
#include "base/result.h"

namespace stile::audit {
class Line;
}

namespace stile::cli {

struct SeenTarget {
  std::string agent;   // empty: the source belongs to no agent
  std::string source;  // address; only without an agent
  acl::Scheme scheme = acl::Scheme::tunnel;
  std::string host;  // canonical, or as sent if it was refused as malformed
  std::uint16_t port = 0;
  friend auto operator<=>(const SeenTarget&, const SeenTarget&) = default;
};

// "alpha.example:8443", "http://alpha.example:80": without bytes that could control a terminal.
[[nodiscard]] std::string target_text(const SeenTarget& target);

// A request inside an opened tunnel.
struct SeenRequest {
  std::string method, path;
  friend auto operator<=>(const SeenRequest&, const SeenRequest&) = default;
};

struct SeenOutcome {
  std::uint64_t allowed = 0;
  std::map<std::string, std::uint64_t> observed;  // would-deny, by reason
  std::map<std::string, std::uint64_t> refused;   // deny, by reason
  [[nodiscard]] std::uint64_t count() const;
};

class Seen {
 public:
  // An agent can request any number of names; names beyond this limit are only counted.
  static constexpr std::size_t max_targets = 1'000'000;
  // The same for requests inside tunnels.
  static constexpr std::size_t max_requests = 100'000;
  using Requests = std::map<SeenRequest, SeenOutcome>;

  // Adds the requests of a log; "-" is standard input. Invalid lines are only counted.
  [[nodiscard]] Result<void> read(const std::string& file);
  // Adds one line of a log.
  void add_line(std::string_view text);

  [[nodiscard]] const std::map<SeenTarget, SeenOutcome>& targets() const noexcept {
    return targets_;
  }
  // Those inside opened tunnels to this target, which targets() counts, too.
  [[nodiscard]] const Requests& inside(const SeenTarget& target) const;
  [[nodiscard]] std::uint64_t foreign_lines() const noexcept { return foreign_lines_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  // Refusals that came too fast to be logged one by one: the log has their number, not their hosts.
  [[nodiscard]] std::uint64_t without_host() const noexcept { return without_host_; }
  [[nodiscard]] const std::string& first() const noexcept { return first_; }  // time stamps
  [[nodiscard]] const std::string& last() const noexcept { return last_; }

 private:
  void add(const audit::Line& line);

  void add_inside(const audit::Line& line, const SeenTarget& target);

  std::map<SeenTarget, SeenOutcome> targets_;
  std::map<SeenTarget, Requests> inside_;
  std::size_t inside_count_ = 0;
  std::uint64_t foreign_lines_ = 0, dropped_ = 0, without_host_ = 0;
  std::string first_, last_;
};

}  // namespace stile::cli
