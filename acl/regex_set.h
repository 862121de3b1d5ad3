// RegexSet: the RE2 patterns of one agent's list, matched together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/rule_set.h"
#include "base/result.h"

namespace stile::acl {

class RegexSet {
 public:
  // The memory limit of one compiled set, including the states of its automaton. An agent that
  // requests many names can fill it, but it never grows beyond the limit.
  static constexpr std::int64_t default_max_bytes = std::int64_t{16} << 20;

  // Compiles all regex rules of the given sets into one RE2::Set; null if there are none. The
  // result keeps those sets alive.
  static Result<std::shared_ptr<const RegexSet>> compile(
      const std::vector<std::shared_ptr<const RuleSet>>& sets,
      std::int64_t max_bytes = default_max_bytes);

  // A set that always fails to run, for tests of how a decision handles that.
  static std::shared_ptr<const RegexSet> that_cannot_run();

  // The sets that have regexes, in order: lists for which this is equal can share one RegexSet.
  using Key = std::vector<const RuleSet*>;
  [[nodiscard]] static Key key(const std::vector<std::shared_ptr<const RuleSet>>& sets);

  // RE2's error message for one expression; empty: it is valid.
  [[nodiscard]] static std::string fault(std::string_view expression);

  struct Match {
    bool failed = false;  // could not run (memory): the caller treats it as a match in deny only
    std::vector<RuleRef> rules;
  };
  [[nodiscard]] Match match(std::string_view name) const;

  // The number of failed runs, over all sets of the process; a metric.
  [[nodiscard]] static std::uint64_t failures() noexcept;
  ~RegexSet();
  RegexSet(const RegexSet&) = delete;
  RegexSet& operator=(const RegexSet&) = delete;

 private:
  RegexSet();
  struct Impl;                  // keeps re2's headers out of everything that decides
  std::unique_ptr<Impl> impl_;  // null: it cannot run
};

}  // namespace stile::acl
