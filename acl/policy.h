// AgentPolicy and Snapshot: all inputs of a decision, immutable and shared by all threads.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "acl/access_list.h"
#include "acl/account.h"
#include "acl/address.h"
#include "acl/host_budget.h"
#include "acl/inside.h"
#include "acl/prefix_map.h"
#include "acl/regex_set.h"
#include "acl/rule_set.h"
#include "base/unix_time.h"

namespace stile::scan {
class Watch;
}

namespace stile::acl {

enum class Mode : std::uint8_t { enforce, observe, offline };
[[nodiscard]] std::string_view text(Mode mode) noexcept;

// What is left of a grant. The only part of a decision that changes under a snapshot. Workers count
// it down; `decide` only reads it.
struct Lease {
  Allowance requests;
  Allowance bytes_up;
};

// A request of an opened tunnel, or of plain HTTP, that no request entry allows.
struct GrantedRequest {
  std::string method, path;  // compared as they are: a `*` of an agent's path is no pattern
};

struct Grant {
  std::string id;
  // Set: it allows only this request on its hosts, and opens no host by itself.
  std::optional<GrantedRequest> only;
  std::shared_ptr<const RuleSet> rules;  // never regexes' only home: see regexes
  std::shared_ptr<const RegexSet> regexes;
  std::optional<UnixMicros> expires;
  std::shared_ptr<Lease> lease;  // never null
};

struct PrivateException {
  Prefix prefix;
  std::shared_ptr<const RuleSet> hosts;  // null: for every host
};

// The lists of one direction. Sets are shared between agents that use the same file.
struct Rules {
  std::vector<std::shared_ptr<const RuleSet>> sets;
  std::shared_ptr<const RegexSet> regexes;  // of all sets; null: none
};

// Where a ClientHello with an encrypted server name (ECH) is allowed.
struct Ech {
  bool everywhere = false;
  Rules hosts;  // and where else
};
[[nodiscard]] std::string text(const Ech& ech);  // "refuse", "allow" or the patterns

class LookAlikes;

struct AgentPolicy {
  std::string id;
  std::string instance;
  std::vector<Prefix> sources;
  std::optional<UnixMicros> expires;
  Mode mode = Mode::enforce;  // effective: includes the global switch
  std::vector<std::uint16_t> ports{443};
  std::vector<std::uint16_t> http_ports;
  Rules allow;
  Rules deny;                                     // the agent's own and the global ones
  std::shared_ptr<const LookAlikes> look_alikes;  // of the allow rules; null: unknown
  // If set, this ordered list decides about port and host, and the lists above are ignored.
  std::shared_ptr<const AccessList> access;
  std::vector<Grant> grants;
  std::vector<Address> allow_ip;
  std::vector<PrivateException> private_exceptions;
  PrefixMap forbid_addresses;
  bool check_sni = true;
  bool asks = false;                     // a person is asked about what no rule names
  std::shared_ptr<const Inside> inside;  // null: no tunnel of this agent is opened
  // What its requests must not carry: step 13, which is not part of a decision, since it needs the
  // body. Null: nothing is looked for.
  std::shared_ptr<const scan::Watch> watch;
  Ech ech;
  std::string contact;
  std::vector<std::string> strip_request_headers;  // lower-case
  // Limits and budgets; the caller counts.
  std::uint32_t max_connections = 1024;
  std::uint32_t requests_per_second = 1000;  // 0: no limit
  std::optional<std::uint64_t> bytes_up, bytes_down;
  // Of bytes_up, only this much may be used so far: the rest belongs to other hosts, too.
  std::optional<std::uint64_t> bytes_up_slice;
  std::shared_ptr<Account> account;  // its usage; set in a snapshot in force
  std::vector<HostBudget> budgets;   // of requests, one for each host

  // Null: requests to this host are not counted.
  [[nodiscard]] const HostBudget* budget_for(std::string_view host) const noexcept;

  // Grants cannot be added to an ordered list.
  [[nodiscard]] bool takes_grants() const noexcept { return access == nullptr; }
};

// All agents at one moment. Built once, then only read.
class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(std::uint64_t generation, std::vector<std::shared_ptr<const AgentPolicy>> agents);

  // Null: no agent has that source. The caller unmaps v4-mapped addresses first.
  [[nodiscard]] const std::shared_ptr<const AgentPolicy>* by_source(const Address&) const noexcept;
  [[nodiscard]] const std::shared_ptr<const AgentPolicy>* by_id(std::string_view) const noexcept;
  [[nodiscard]] const std::vector<std::shared_ptr<const AgentPolicy>>& agents() const noexcept {
    return agents_;
  }
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  // Whether requests can be logged and counted under that name.
  [[nodiscard]] bool has_name(std::string_view name) const noexcept;

 private:
  std::uint64_t generation_ = 0;
  std::vector<std::shared_ptr<const AgentPolicy>> agents_;
  PrefixMap sources_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace stile::acl
