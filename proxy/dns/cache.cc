// Cache of answers: bounded in number and time, negative answers included.
#include "proxy/dns/cache.h"

namespace stile::dns {

ResolvedPtr Cache::find(std::string_view name, Time now) {
  const auto found = index_.find(name);
  if (found == index_.end()) return nullptr;
  const auto entry = found->second;
  if (entry->expires <= now) {
    index_.erase(found);
    entries_.erase(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->resolved;
}

void Cache::put(std::string_view name, ResolvedPtr resolved, Time expires) {
  if (max_entries_ == 0) return;
  if (const auto found = index_.find(name); found != index_.end()) {
    const auto entry = found->second;
    index_.erase(found);
    entries_.erase(entry);
  } else if (entries_.size() >= max_entries_) {
    index_.erase(entries_.back().name);
    entries_.pop_back();
  }
  entries_.push_front({std::string{name}, std::move(resolved), expires});
  index_.emplace(entries_.front().name, entries_.begin());
}

void Cache::set_max_entries(std::size_t max_entries) {
  max_entries_ = max_entries;
  while (entries_.size() > max_entries_) {
    index_.erase(entries_.back().name);
    entries_.pop_back();
  }
}

void Cache::clear() noexcept {
  index_.clear();
  entries_.clear();
}

}  // namespace stile::dns
