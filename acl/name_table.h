// NameTable: finds the first rule of a name with one memory access, for any number of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "acl/pattern.h"

namespace stile::acl {

// In a table of millions of names, waiting for memory costs more than the computation. So a bucket
// of two cache lines holds everything that a lookup needs: the entries, each followed by its name.
// Entries that do not fit into a bucket spill into the next one.
class NameTable {
 public:
  struct Entry {
    std::uint32_t rule = 0;  // index + 1 of the first rule with that name; 0: none
    std::uint16_t tag = 0;   // a part of the hash
    std::uint16_t port = 0;  // of that rule, as are kind and reach
    std::uint8_t name_length = 0;
    Pattern::Kind kind = Pattern::Kind::exact;
    Pattern::Reach reach = Pattern::Reach::bare;
    bool has_more = false;  // rules with the same name
  };

  // Longer names are rare and are stored outside of the buckets.
  static constexpr std::size_t max_inline = 40;
  [[nodiscard]] static std::size_t space_for(std::size_t name_length) noexcept {
    return sizeof(Entry) + (name_length <= max_inline ? name_length : sizeof(std::uint32_t));
  }

  // Reserves space for entries of this total size, by space_for. Call it before the first put.
  void reserve(std::size_t bytes);
  // Adds an entry for a new name, or changes the existing one. Returns where the name is stored.
  std::uint32_t put(std::uint32_t hash, std::string_view name, Entry entry);
  [[nodiscard]] Entry find(std::uint32_t hash, std::string_view name) const noexcept;
  [[nodiscard]] std::string_view name_at(std::uint32_t place, std::size_t length) const noexcept;
  // Prefetches, for callers that put or find many names.
  void prefetch(std::uint32_t hash) const noexcept { __builtin_prefetch(&buckets_[home(hash)], 1); }

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct alignas(128) Bucket {
    static constexpr std::size_t capacity = 126;
    std::uint8_t used = 0;
    bool has_spilled = false;  // entries of this bucket are in the next one
    std::array<char, capacity> bytes;
  };
  static_assert(sizeof(Bucket) == 128);
  // The average number of bytes per bucket. A bucket spills only if it holds more than that, so not
  // all buckets can spill: every search ends, and every entry finds a place.
  static constexpr std::size_t load = Bucket::capacity - (sizeof(Entry) + max_inline);

  [[nodiscard]] static std::uint16_t tag_of(std::uint32_t hash) noexcept {
    return static_cast<std::uint16_t>(hash);
  }
  [[nodiscard]] std::size_t home(std::uint32_t hash) const noexcept {
    return static_cast<std::size_t>((std::uint64_t{hash} * buckets_.size()) >> 32);
  }
  [[nodiscard]] std::size_t after(std::size_t bucket) const noexcept {
    return bucket + 1 == buckets_.size() ? 0 : bucket + 1;
  }
  // `stored` follows an entry: the name itself, or where it is stored.
  [[nodiscard]] bool is_name(const char* stored, std::string_view name) const noexcept;
  // The position of a name's entry, or where it would go if it fits there.
  struct Spot {
    std::size_t bucket, offset;
    Entry entry;
  };
  [[nodiscard]] Spot locate(std::uint32_t hash, std::string_view name) const noexcept;

  std::vector<Bucket> buckets_;
  std::string long_names_;
};

inline bool NameTable::is_name(const char* stored, std::string_view name) const noexcept {
  if (name.size() > max_inline) {
    std::uint32_t offset = 0;
    std::memcpy(&offset, stored, sizeof offset);
    stored = long_names_.data() + offset;
  }
  return std::memcmp(stored, name.data(), name.size()) == 0;
}

inline NameTable::Spot NameTable::locate(std::uint32_t hash, std::string_view name) const noexcept {
  for (std::size_t at = home(hash);; at = after(at)) {
    const Bucket& bucket = buckets_[at];
    __builtin_prefetch(bucket.bytes.data() + 64);
    std::size_t offset = 0;
    while (offset < bucket.used) {
      const char* const stored = bucket.bytes.data() + offset;
      Entry entry;
      std::memcpy(&entry, stored, sizeof entry);
      // Compares the names themselves: an attacker can find two names with the same hash.
      if (entry.tag == tag_of(hash) && entry.name_length == name.size() &&
          is_name(stored + sizeof entry, name)) {
        return {at, offset, entry};
      }
      offset += space_for(entry.name_length);
    }
    if (!bucket.has_spilled) return {at, offset, {}};
  }
}

inline NameTable::Entry NameTable::find(std::uint32_t hash, std::string_view name) const noexcept {
  return locate(hash, name).entry;
}

}  // namespace stile::acl
