// AgentNames: the addresses that stand for names, for one agent.
#include "proxy/dns/agent_names.h"

#include <algorithm>

namespace stile::dns {

AgentNames::AgentNames(const acl::Prefix& subnet, std::uint32_t offset) noexcept {
  if (!subnet.address.is_v4() || subnet.length > 30) return;  // no usable address
  first_ = subnet.first().v4_value() + reserved;
  last_ = subnet.last().v4_value() - 1;
  next_ = first_ + offset % (last_ - first_ + 1);
}

std::uint64_t AgentNames::places() const noexcept {
  return last_ < first_ ? 0 : std::min<std::uint64_t>(max_names, last_ - first_ + 1ULL);
}

StandInPtr AgentNames::stand_in(std::string_view name, SteadyTime now) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    const auto entry = found->second;
    entry->until = now + ttl;
    entries_.splice(entries_.end(), entries_, entry);
    return entry->stand_in;
  }
  if (entries_.size() >= places() && !make_room(now)) return nullptr;
  // In rotation, so that an address rests as long as possible before it gets another name.
  while (by_address_.contains(next_)) next_ = next_ == last_ ? first_ : next_ + 1;
  const std::uint32_t address = next_;
  next_ = next_ == last_ ? first_ : next_ + 1;
  return add(entries_.end(), name, address, now);
}

StandInPtr AgentNames::add(Entries::iterator before, std::string_view name, std::uint32_t address,
                           SteadyTime now) {
  auto made =
      std::make_shared<const StandIn>(StandIn{std::string{name}, acl::Address::v4(address), 0});
  const auto entry = entries_.insert(before, {made, now + ttl});
  try {
    by_name_.emplace(made->name, entry);
    by_address_.emplace(address, entry);
  } catch (...) {
    by_name_.erase(made->name);
    entries_.erase(entry);
    throw;
  }
  return made;
}

// Drops the entry that was asked for least recently, among those that nothing uses any more.
bool AgentNames::make_room(SteadyTime now) {
  for (auto entry = entries_.begin(); entry != entries_.end() && entry->until <= now; ++entry) {
    // Only the caller hands out pointers, so a count of one stays one.
    if (entry->stand_in.use_count() > 1) continue;
    by_name_.erase(entry->stand_in->name);
    by_address_.erase(entry->stand_in->address.v4_value());
    entries_.erase(entry);
    return true;
  }
  return false;
}

StandInPtr AgentNames::find(const acl::Address& address) const noexcept {
  if (!address.is_v4()) return nullptr;
  const auto found = by_address_.find(address.v4_value());
  return found == by_address_.end() ? nullptr : found->second->stand_in;
}

StandInPtr AgentNames::find_name(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second->stand_in;
}

void AgentNames::restore(std::string_view name, const acl::Address& address, SteadyTime now) {
  if (!address.is_v4() || address.v4_value() < first_ || address.v4_value() > last_) return;
  if (entries_.size() >= places() || by_name_.contains(name) ||
      by_address_.contains(address.v4_value())) {
    return;
  }
  static_cast<void>(add(entries_.begin(), name, address.v4_value(), now));
  if (address.v4_value() >= next_)
    next_ = address.v4_value() == last_ ? first_ : address.v4_value() + 1;
}

}  // namespace stile::dns
