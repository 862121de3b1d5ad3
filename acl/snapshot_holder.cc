// Swaps snapshots.
#include "acl/snapshot_holder.h"

#include <utility>

namespace stile::acl {

SnapshotHolder::SnapshotHolder(std::shared_ptr<const Snapshot> first)
    : current_{std::move(first)} {}

void SnapshotHolder::swap(std::shared_ptr<const Snapshot> next) {
  {
    const std::lock_guard lock{mutex_};
    current_.swap(next);
    version_.fetch_add(1, std::memory_order_release);
  }
  // `next` is the old snapshot now. If it has no readers, it is freed here, outside of the lock.
}

std::shared_ptr<const Snapshot> SnapshotHolder::current() const {
  const std::lock_guard lock{mutex_};
  return current_;
}

const std::shared_ptr<const Snapshot>& SnapshotReader::get() {
  if (holder_.version_.load(std::memory_order_acquire) != version_) {
    std::shared_ptr<const Snapshot> old = std::move(cached_);
    const std::lock_guard lock{holder_.mutex_};
    cached_ = holder_.current_;
    version_ = holder_.version_.load(std::memory_order_relaxed);
  }
  return cached_;
}

}  // namespace stile::acl
