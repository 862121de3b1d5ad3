// The values of `acl … dstdomain`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "acl/rule_set.h"
#include "base/result.h"
#include "squid/remark.h"

namespace stile::squid {

class DomainValues {
 public:
  explicit DomainValues(std::string source) : rules_{std::move(source)} {}

  // Adds one value: a name, or a name with a leading dot that also covers all names below it.
  // Returns a remark about it, usually empty. As in squid, a value that covers an earlier one is an
  // error.
  [[nodiscard]] Result<Remark> add(std::string_view text, std::uint32_t line);
  [[nodiscard]] std::shared_ptr<const acl::RuleSet> build() && { return std::move(rules_).build(); }
  [[nodiscard]] const std::vector<acl::Address>& literals() const { return literals_; }
  [[nodiscard]] bool empty() const { return trees_.empty() && names_.empty() && literals_.empty(); }

 private:
  acl::RuleSet::Builder rules_;
  std::vector<acl::Address> literals_;
  std::unordered_set<std::string> trees_;    // of ".example.com": "example.com"
  std::unordered_set<std::string> names_;    // of "example.com"
  std::unordered_set<std::string> parents_;  // every name above a value
};

}  // namespace stile::squid
