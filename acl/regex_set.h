// RegexSet: the RE2 patterns of one agent's list, matched together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "acl/rule_set.h"

namespace stile::acl {

class RegexSet {
 public:
  // What one compiled set may take, its automaton's states included. An agent that asks for many
  // names fills it; it never grows beyond.
  static constexpr std::int64_t default_max_bytes = std::int64_t{16} << 20;

  // Compiles all regex rules of the given sets into one RE2::Set; null if there are none. It keeps
  // those sets alive.
  static Result<std::shared_ptr<const RegexSet>> compile(
      const std::vector<std::shared_ptr<const RuleSet>>& sets,
      std::int64_t max_bytes = default_max_bytes);

  // One that never runs: what a decision makes of that is tested with it.
  static std::shared_ptr<const RegexSet> that_cannot_run();

  // The sets that have regexes, in order: lists for which this is equal can share one RegexSet.
  using Key = std::vector<const RuleSet*>;
  [[nodiscard]] static Key key(const std::vector<std::shared_ptr<const RuleSet>>& sets);

  // RE2's own words for what is wrong with one expression; empty: nothing.
  [[nodiscard]] static std::string fault(std::string_view expression);

  struct Match {
    bool failed = false;  // could not run (memory): the caller takes it as a match only in deny
    std::vector<RuleRef> rules;
  };
  [[nodiscard]] Match match(std::string_view name) const;

  // How often a set could not run, over all sets of the process; a metric.
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
