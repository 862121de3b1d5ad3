// Sandbox: Landlock first, since the filter would refuse Landlock's own calls.
#include "proxy/server/sandbox.h"

#include "proxy/base/log.h"
#include "proxy/server/landlock.h"
#include "proxy/server/seccomp_filter.h"

namespace stile::server {

Result<void> confine_process(const std::vector<std::string>& writable_directories) {
  auto fenced = landlock_process(writable_directories);
  if (!fenced) return fenced.error();
  if (!*fenced) {
    log::info("this kernel has no Landlock: files are guarded by their permissions alone");
  }
  return filter_process();
}

Result<void> confine_worker() {
  if (auto fenced = landlock_worker(); !fenced) return fenced.error();
  return filter_worker();
}

}  // namespace stile::server
