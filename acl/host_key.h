// HostKey: the hashes of a name and of all its parents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "acl/host.h"

namespace stile::acl {

// At most Host::max_length bytes.
[[nodiscard]] std::uint32_t hash_name(std::string_view name) noexcept;

// Made once per decision and used for every set. It points into the host, which must not move.
class HostKey {
 public:
  static constexpr std::size_t max_labels = 127;
  explicit HostKey(const Host& host) noexcept;
  struct Part {
    std::uint32_t hash;    // as hash_name gives it for this suffix
    std::uint32_t offset;  // of this suffix in the name
  };
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::size_t labels() const noexcept { return labels_; }
  // 1 is the last label alone, labels() the whole name.
  [[nodiscard]] const Part& part(std::size_t labels) const noexcept { return parts_[labels - 1]; }

 private:
  std::string_view name_;
  std::size_t labels_ = 0;
  Part parts_[max_labels];
};

}  // namespace stile::acl
