// SnapshotHolder: gives many threads the policy in force; readers take no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "acl/policy.h"

namespace stile::acl {

class SnapshotHolder {
 public:
  explicit SnapshotHolder(std::shared_ptr<const Snapshot> first);
  // From here on every reader sees the new snapshot; the last reader of the old one frees it.
  void swap(std::shared_ptr<const Snapshot> next);
  [[nodiscard]] std::shared_ptr<const Snapshot> current() const;

 private:
  friend class SnapshotReader;
  std::atomic<std::uint64_t> version_{1};
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> current_;
};

// One per thread. Costs one atomic load unless the policy has changed.
class SnapshotReader {
 public:
  explicit SnapshotReader(const SnapshotHolder& holder) : holder_{holder} {}
  [[nodiscard]] const std::shared_ptr<const Snapshot>& get();

 private:
  const SnapshotHolder& holder_;
  std::uint64_t version_ = 0;
  std::shared_ptr<const Snapshot> cached_;
};

}  // namespace stile::acl
