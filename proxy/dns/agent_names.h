// AgentNames: the addresses that stand for names, for one agent. Pure: the caller passes the time.
//
// An address belongs to its name for as long as the agent may still use it: for the TTL of the last
// answer, and while a connection to it is open. After that it is kept until its place is needed,
// since some programs use an address for longer than its TTL.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "acl/address.h"
#include "proxy/base/clock.h"
#include "proxy/base/seeded_hash.h"

namespace stile::dns {

// A connection keeps a pointer to this while it is open.
struct StandIn {
  std::string name;  // canonical
  acl::Address address;
  mutable std::uint64_t line = 0;  // of the NameBook's file, which alone uses it, under its lock
};
using StandInPtr = std::shared_ptr<const StandIn>;

class AgentNames {
 public:
  static constexpr std::size_t max_names = 4096;
  static constexpr std::chrono::seconds ttl{60};
  // The first addresses of the subnet are never given to a name: `stile run` has its name server
  // there.
  static constexpr std::uint32_t reserved = 2;

  // `offset`: where in the subnet the rotation begins. A random one keeps an address that an
  // earlier process gave away, and that was not restored, from getting another name soon.
  explicit AgentNames(const acl::Prefix& subnet, std::uint32_t offset = 0) noexcept;

  // The address for a name, from now on for at least the TTL. Null: all places are in use.
  [[nodiscard]] StandInPtr stand_in(std::string_view name, SteadyTime now);
  // Null: the address stands for nothing.
  [[nodiscard]] StandInPtr find(const acl::Address& address) const noexcept;
  [[nodiscard]] StandInPtr find_name(std::string_view name) const noexcept;
  // An entry of an earlier process. The newest comes first: what is restored later counts as asked
  // for earlier, and is ignored if its name, its address or all places are taken.
  void restore(std::string_view name, const acl::Address& address, SteadyTime now);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) visit(*entry.stand_in);
  }

 private:
  struct Entry {
    StandInPtr stand_in;
    SteadyTime until;
  };
  using Entries = std::list<Entry>;

  StandInPtr add(Entries::iterator before, std::string_view name, std::uint32_t address,
                 SteadyTime now);
  [[nodiscard]] bool make_room(SteadyTime now);
  [[nodiscard]] std::uint64_t places() const noexcept;

  std::uint32_t first_ = 1, last_ = 0, next_ = 1;  // the usable addresses; next_ is tried first
  Entries entries_;                                // by their last question, the oldest first
  // Both point into entries_. The agent chooses the names.
  std::unordered_map<std::string_view, Entries::iterator, SeededHash, std::equal_to<>> by_name_;
  std::unordered_map<std::uint32_t, Entries::iterator> by_address_;
};

}  // namespace stile::dns
