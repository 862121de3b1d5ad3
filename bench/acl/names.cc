// Making of host names.
#include "bench/acl/names.h"

#include <array>
#include <random>
#include <string_view>

namespace stile::bench {

std::vector<std::string> make_names(std::size_t count, unsigned seed) {
  constexpr std::array<std::string_view, 8> hosts{"",     "",        "www.",  "api.",
                                                  "cdn.", "static.", "mail.", "eu.assets."};
  constexpr std::array<std::string_view, 8> tops{".com", ".com", ".com",   ".net",
                                                 ".org", ".io",  ".co.uk", ".dev"};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  std::mt19937 random{seed};
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string name{hosts[random() % hosts.size()]};
    for (auto length = 4 + random() % 8; length > 0; --length) {
      name += letters[random() % letters.size()];
    }
    name += std::to_string(seed) + '-' + std::to_string(i);  // no two are equal
    names.push_back(name += tops[random() % tops.size()]);
  }
  return names;
}

}  // namespace stile::bench
