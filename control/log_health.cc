// LogHealth: detects that the audit log fails, and that it works again.
#include "control/log_health.h"

#include <utility>

namespace stile::control {

std::optional<LogNews> LogHealth::look(const audit::Log& log) {
  const bool was_failing = std::exchange(is_failing_, !log.healthy());
  const std::uint64_t failures = log.failures();
  const bool has_failed = std::exchange(failures_, failures) != failures;
  if (!is_failing_ && !was_failing && !has_failed) {
    gaps_ = log.gaps();
    return {};
  }
  if (is_failing_) {
    if (was_failing) return {};
    return LogNews{true, 0, log.problem()};
  }
  LogNews news;
  news.lost = log.gaps() - std::exchange(gaps_, log.gaps());
  news.text =
      was_failing ? "the log is written again" : "the log could not be written for a moment";
  if (news.lost > 0) news.text += "; " + std::to_string(news.lost) + " records were lost";
  return news;
}

}  // namespace stile::control
