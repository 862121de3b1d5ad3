// ScanRules: what an agent's requests must not carry, compiled: built-in sets and the operator's
// own expressions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scan/tokens.h"

namespace stile::scan {

enum class ScanAction : std::uint8_t { refuse, log };

// One scan of an agent, by its name in the config.
struct Scan {
  std::string name;
  std::string pattern;  // RE2; empty: the built-in set of that name
  ScanAction action = ScanAction::refuse;
};

// The number of a scan is a bit of this. The first two are looked for always.
using Found = std::uint64_t;
inline constexpr std::size_t secrets_number = 0, placeholders_number = 1, first_number = 2;
inline constexpr std::size_t most_scans = 62;  // of one agent

[[nodiscard]] constexpr Found bit_of(std::size_t number) noexcept { return Found{1} << number; }

// What is wrong with an expression; empty: nothing.
[[nodiscard]] std::string pattern_fault(const std::string& pattern);
// Nullptr: there is no built-in set of that name.
[[nodiscard]] const Set* set_named(std::string_view name) noexcept;

class ScanRules {
 public:
  // At most `most_scans`, with valid patterns.
  static Result<std::shared_ptr<const ScanRules>> compile(std::vector<Scan> scans);
  ~ScanRules();
  ScanRules(const ScanRules&) = delete;
  ScanRules& operator=(const ScanRules&) = delete;

  // The scan with that number.
  [[nodiscard]] std::string_view name_of(std::size_t number) const;
  // Those of the found ones that refuse a request. `is_trial`: the sets and expressions only log.
  [[nodiscard]] Found refusing(Found found, bool is_trial) const noexcept;
  // The names, in order, with commas.
  [[nodiscard]] std::string names(Found found) const;
  [[nodiscard]] const std::vector<Scan>& scans() const noexcept { return scans_; }

  // The scan of a set; 0: it is not looked for.
  [[nodiscard]] Found of(Set set) const noexcept { return sets_[static_cast<std::size_t>(set)]; }
  [[nodiscard]] bool has_expressions() const noexcept { return expressions_ != nullptr; }
  // The operator's expressions that match somewhere in the text.
  [[nodiscard]] Found match(std::string_view text) const;

 private:
  ScanRules();
  struct Expressions;
  std::vector<Scan> scans_;
  std::array<Found, set_count> sets_{};
  Found logs_ = 0;
  std::unique_ptr<const Expressions> expressions_;  // null: none
};

}  // namespace stile::scan
