// LookAlikes: whether a host imitates a name that an agent may reach. For warnings only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stile::acl {

struct Rules;

class LookAlikes {
 public:
  // Bounds the work for a refusal: an agent can cause many. Further names are not compared.
  static constexpr std::size_t max_names = 256;

  // The names of an allowlist, without regexes and `*`.
  [[nodiscard]] static std::shared_ptr<const LookAlikes> of(const Rules& allow);
  void add(std::string_view name);

  // The name that `host` can be mistaken for: a typing error away, visually the same
  // (examp1e.com), the same name under another suffix (example.org), or with that name as a prefix
  // (example.com.evil.net). Empty: none, or the host belongs to the same owner.
  [[nodiscard]] std::string_view find(std::string_view host) const;

 private:
  struct Known {
    std::string name, registered, shape;
    std::uint64_t letters = 0;  // of the registered label, one bit each
  };
  [[nodiscard]] bool may_imitate(std::string_view host) const;
  std::vector<Known> known_;
};

}  // namespace stile::acl
