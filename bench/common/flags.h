// Command line of the bench programs: `--name value` and `--name`, each name known beforehand.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace stile::bench {

class Flags {
 public:
  // Ends the program on a name that is not in `known`.
  Flags(int argc, char** argv, std::initializer_list<std::string_view> known);

  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback = "") const;
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t fallback) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace stile::bench
