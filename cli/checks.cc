// Checks of words on the command line.
#include "cli/checks.h"

#include "acl/pattern.h"
#include "config/units.h"

namespace stile::cli {
namespace {

template <class T>
std::string problem_of(const Result<T>& result) {
  return result ? std::string{} : result.error().message;
}

}  // namespace

std::string check_pattern(const std::string& text) { return problem_of(acl::Pattern::parse(text)); }

std::string check_duration(const std::string& text) {
  const auto duration = config::parse_duration(text);
  if (duration && *duration < std::chrono::seconds{1}) return "at least 1s";
  return problem_of(duration);
}

std::string check_size(const std::string& text) { return problem_of(config::parse_size(text)); }

}  // namespace stile::cli
