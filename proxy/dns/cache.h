// Cache of answers: bounded in number and time, negative answers included.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "acl/address.h"
#include "proxy/base/seeded_hash.h"

namespace stile::dns {

// A cached name. Without an address the lookup failed, and `failure` has the reason.
struct Resolved {
  std::vector<acl::Address> addresses;
  std::string_view failure;  // constant text for people
};
using ResolvedPtr = std::shared_ptr<const Resolved>;

class Cache {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Cache(std::size_t max_entries) noexcept : max_entries_{max_entries} {}

  [[nodiscard]] ResolvedPtr find(std::string_view name, Time now);
  // Drops the least recently used entry when full, so that an agent that asks for a million names
  // costs the others at most a new lookup.
  void put(std::string_view name, ResolvedPtr resolved, Time expires);
  void clear() noexcept;
  void set_max_entries(std::size_t max_entries);
  [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }

 private:
  struct Entry {
    std::string name;
    ResolvedPtr resolved;
    Time expires;
  };
  using Entries = std::list<Entry>;  // most recently used first
  std::size_t max_entries_;
  Entries entries_;
  // Views into the entries. Agents choose the names, so they must not know the hash.
  std::unordered_map<std::string_view, Entries::iterator, SeededHash> index_;
};

}  // namespace stile::dns
