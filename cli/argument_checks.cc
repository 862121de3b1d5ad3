// Checks of command-line arguments.
#include "cli/argument_checks.h"

#include <algorithm>
#include <optional>

#include "acl/pattern.h"
#include "audit/text.h"
#include "base/units.h"
#include "base/unix_time.h"

namespace stile::cli {
namespace {

template <class T>
std::string problem_of(const Result<T>& result) {
  return result ? std::string{} : result.error().message;
}

// "10m" means ten minutes ago.
std::optional<UnixMicros> moment_of(const std::string& text) {
  if (const auto time = parse_time(text)) return time;
  const auto duration = parse_duration(text);
  if (!duration) return {};
  const auto then = std::chrono::system_clock::now() - *duration;
  const auto since_epoch = then.time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

}  // namespace

std::string check_pattern(const std::string& text) { return problem_of(acl::Pattern::parse(text)); }

std::string check_duration(const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration && *duration < std::chrono::seconds{1}) return "at least 1s";
  return problem_of(duration);
}

std::string check_since(const std::string& text) {
  if (moment_of(text)) return {};
  return "neither a duration like 10m nor a time like 2026-11-16T09:00:00Z";
}

std::string since_stamp(const std::string& text) {
  const auto stamp = audit::TimeText{}(std::max<UnixMicros>(0, moment_of(text).value_or(0)));
  return {stamp.begin(), stamp.end()};
}

std::string check_size(const std::string& text) { return problem_of(parse_size(text)); }

}  // namespace stile::cli
