// Filling of name tables.
#include "acl/name_table.h"

#include <limits>
#include <stdexcept>

namespace stile::acl {

void NameTable::reserve(std::size_t bytes) {
  const std::size_t count = bytes / load + 1;
  if (count > std::numeric_limits<std::uint32_t>::max() / Bucket::capacity) {
    throw std::length_error{"NameTable: more than 4 GiB of names in one list"};
  }
  buckets_.resize(count);
}

std::uint32_t NameTable::put(std::uint32_t hash, std::string_view name, Entry entry) {
  Spot spot = locate(hash, name);
  const bool is_new = spot.entry.rule == 0;
  const std::size_t space = space_for(name.size());
  while (is_new && spot.offset + space > Bucket::capacity) {
    buckets_[spot.bucket].has_spilled = true;
    spot.bucket = after(spot.bucket);
    spot.offset = buckets_[spot.bucket].used;
  }
  Bucket& bucket = buckets_[spot.bucket];
  char* const stored = bucket.bytes.data() + spot.offset;
  entry.tag = tag_of(hash);
  entry.name_length = static_cast<std::uint8_t>(name.size());
  std::memcpy(stored, &entry, sizeof entry);
  if (is_new) bucket.used = static_cast<std::uint8_t>(spot.offset + space);
  if (name.size() <= max_inline) {
    name.copy(stored + sizeof entry, name.size());
    return static_cast<std::uint32_t>(spot.bucket * Bucket::capacity + spot.offset + sizeof entry);
  }
  std::uint32_t place = 0;
  if (is_new) {
    place = static_cast<std::uint32_t>(long_names_.size());
    long_names_ += name;
    std::memcpy(stored + sizeof entry, &place, sizeof place);
  } else {
    std::memcpy(&place, stored + sizeof entry, sizeof place);
  }
  return place;
}

std::string_view NameTable::name_at(std::uint32_t place, std::size_t length) const noexcept {
  if (length > max_inline) return std::string_view{long_names_}.substr(place, length);
  return {buckets_[place / Bucket::capacity].bytes.data() + place % Bucket::capacity, length};
}

std::size_t NameTable::memory_bytes() const noexcept {
  return buckets_.capacity() * sizeof(Bucket) + long_names_.capacity();
}

}  // namespace stile::acl
