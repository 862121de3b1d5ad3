// Sandbox: Landlock first, since the filter would refuse Landlock's own calls.
#include "proxy/server/sandbox.h"

#include <string_view>

#include "base/sanitized.h"
#include "proxy/base/log.h"
#include "proxy/server/landlock.h"
#include "proxy/server/seccomp_filter.h"

namespace stile::server {
namespace {

constexpr std::string_view no_landlock =
    "this kernel has no Landlock: files are guarded by their permissions alone";

}  // namespace

Result<void> confine_process(const std::vector<std::string>& writable_directories) {
  auto fenced = landlock_process(writable_directories);
  if (!fenced) return fenced.error();
  if (!*fenced) log::info(no_landlock);
  return filter_process();
}

Result<void> confine_worker() {
  if (auto fenced = landlock_worker(); !fenced) return fenced.error();
  return filter_worker();
}

Result<void> confine_front() {
  // The leak check of a sanitizer build reads files of /proc at the end.
  auto fenced = is_sanitized ? landlock_process({}) : landlock_worker();
  if (!fenced) return fenced.error();
  if (!*fenced) log::info(no_landlock);
  return filter_front();
}

}  // namespace stile::server
