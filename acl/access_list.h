// AccessList: an ordered list of allow and deny rules, as in squid.conf. The first rule whose
// conditions all hold decides. An agent has either such a list or the allow and deny lists.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/address.h"
#include "acl/decision.h"
#include "acl/pattern.h"
#include "acl/regex_set.h"
#include "acl/rule_set.h"

namespace stile::acl {

// A request as the conditions see it.
struct AccessQuery {
  Address source;
  std::string_view method;
  std::string_view path;         // of plain HTTP
  const HostKey* key = nullptr;  // null: the destination is an address
  std::uint16_t port = 0;
  // The addresses that the host resolves to, or the literal address. Null: not looked up yet.
  const std::vector<Address>* addresses = nullptr;
};

// Ranges of addresses, both ends included.
class AddressSet {
 public:
  using Stretch = std::pair<Address, Address>;
  AddressSet() = default;
  explicit AddressSet(std::vector<Stretch> disjoint);
  [[nodiscard]] bool contains(const Address& address) const noexcept;

 private:
  std::vector<Stretch> stretches_;  // sorted, disjoint
};

// One named condition: an `acl` of squid.conf. It holds if any of its values matches.
struct Condition {
  enum class Kind : std::uint8_t {
    source,        // the client's address
    destination,   // an address of the origin
    domain,        // the name of the origin
    domain_regex,  // the name of the origin, matched by regexes
    port,
    method,
    manager,  // the path of a squid manager page
  };
  Kind kind = Kind::source;
  AddressSet addresses;                     // source, destination
  std::shared_ptr<const RuleSet> names;     // domain
  std::vector<Address> literals;            // domain: addresses written as names
  std::shared_ptr<const RegexSet> regexes;  // domain_regex; null: never holds
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ports;
  std::vector<std::string> methods;
};

struct AccessRule {
  struct Term {
    std::uint32_t condition = 0;  // index
    bool is_negated = false;
  };
  bool allows = false;
  std::vector<Term> terms;                    // all must hold
  std::string text;                           // the line and its place, for messages
  std::string agent;                          // the name under which its requests are logged
  Reason refusal = Reason::host_not_allowed;  // of a rule that denies
};

class AccessList {
 public:
  // If no rule matches, the request gets the opposite of the last rule. An empty list denies
  // everything. `end` holds the name and text to log in that case.
  AccessList(std::vector<Condition> conditions, std::vector<AccessRule> rules, AccessRule end);

  struct Outcome {
    // `unresolved`: the verdict depends on the addresses of the host, which are not known yet.
    enum class Kind : std::uint8_t { deny, allow, unresolved };
    Kind kind = Kind::deny;
    const AccessRule* rule = nullptr;  // null for unresolved, and if a condition could not run
  };
  [[nodiscard]] Outcome ask(const AccessQuery& query) const;

  // Whether a value that covers the name contains an underscore itself.
  [[nodiscard]] bool names_underscore(const HostKey& key) const;
  // Whether requests can be logged under that name.
  [[nodiscard]] bool has_agent(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }

  bool literals_pass = false;  // the rules decide about addresses as destinations

 private:
  enum class Answer : std::uint8_t { no, yes, unknown, failed };
  [[nodiscard]] Answer ask(const AccessRule& rule, const AccessQuery& query) const;
  [[nodiscard]] static Answer ask(const Condition& condition, const AccessQuery& query);

  std::vector<Condition> conditions_;
  std::vector<AccessRule> rules_;
  AccessRule end_;
};

}  // namespace stile::acl
