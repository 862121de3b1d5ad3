// RegexSet: the RE2 patterns of one agent's list, matched together.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "acl/rule_set.h"

namespace re2 {
class RE2;
}

namespace stile::acl {

class RegexSet {
 public:
  // Compiles all regex rules of the given sets into one RE2::Set; null if there are none. The
  // sets must outlive it.
  static Result<std::shared_ptr<const RegexSet>> compile(
      const std::vector<std::shared_ptr<const RuleSet>>& sets);

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
  struct Impl;  // keeps re2's headers out of everything that decides
  std::unique_ptr<Impl> impl_;
};

}  // namespace stile::acl
