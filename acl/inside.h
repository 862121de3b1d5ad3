// Inside: what of an agent's policy sees inside TLS, and steps 11 and 12 for one request there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/decision.h"
#include "acl/git_push.h"
#include "acl/path_pattern.h"
#include "acl/rule_set.h"
#include "acl/secret.h"

namespace stile::acl {

// One [[agent.request]], or one request of a capability, without its host.
struct RequestRule {
  std::vector<std::string> methods;  // empty: any
  std::vector<PathPattern> paths;    // empty: any
  std::vector<std::string> queries;  // whole query strings; empty: any
  std::optional<std::uint64_t> max_body;
  bool websocket = false;
  std::vector<std::string> keep_headers;  // lower-case
  std::vector<RefPattern> push_refs;      // not empty: a git push that changes only these
  bool graphql_query = false;             // the body is one GraphQL query, in JSON
};

// A tunnel to one of these hosts is opened. A host without a port means every port: a rule that
// sees too little would let requests pass unseen.
struct Inside {
  // For each rule of the host lists, the entries or secrets that it belongs to.
  using Owners = std::vector<std::vector<std::uint32_t>>;
  std::shared_ptr<const RuleSet> request_hosts;
  Owners requests_of_host;
  std::vector<RequestRule> requests;
  std::shared_ptr<const RuleSet> secret_hosts;
  Owners secrets_of_host;
  std::vector<AgentSecret> secrets;

  [[nodiscard]] bool opens(const HostKey& key, std::uint16_t port) const;
  [[nodiscard]] bool opens_some_port(const HostKey& key) const;
};

struct RequestField {
  std::string_view name, value;
};

// One request in an opened tunnel, as it was sent.
struct RequestFacts {
  bool names_tunnel = false;  // its authority is that of the CONNECT
  std::string_view method;
  std::string_view path;    // without the query
  std::string_view query;   // without the question mark
  std::string_view target;  // path and query as they were sent
  // What fields and parameters name in place of the method and the path: see acl/overrides.h.
  std::string_view other_method;
  bool names_other_path = false;
  bool wants_websocket = false;
  std::optional<std::uint64_t> body_bytes;  // if announced
  // Null once the head is gone: a request in progress is judged again without step 12.
  const std::vector<RequestField>* fields = nullptr;
};

inline constexpr std::string_view other_path_fault =
    "a field such as X-Original-URL names another path, and rules are about the path";

// What a request that passes may do.
struct RequestTerms {
  const RequestRule* rule = nullptr;  // null: no entry covers this host
  // Not empty: a git push, whose commands have to be covered by these together.
  std::vector<const RequestRule*> push_rules;
  std::vector<const AgentSecret*> secrets;  // to be put in, one for each header
  std::vector<const AgentSecret*> of_host;  // all secrets of this host: its answers are scrubbed
  bool needs_query = false;                 // only if the body is one GraphQL query
  bool by_grant = false;                    // no entry allows it, but a grant does
};

struct RequestFault {
  Reason reason = Reason::none;
  std::string detail;
  RuleRef rule;  // the host of the entry that allowed it, or came nearest
};

// Step 11. `is_granted`: a grant allows this method and path, though no entry does.
[[nodiscard]] RequestFault judge_request(const Inside& inside, const HostKey& key,
                                         std::uint16_t port, const RequestFacts& facts,
                                         RequestTerms& terms, bool is_granted = false);
// The last part of step 11, once the commands of a push are there. Empty: the push is allowed; else
// why it is refused, for people.
[[nodiscard]] std::string judge_push(const RequestTerms& terms,
                                     std::span<const PushCommand> commands);
// Step 12, with the terms of step 11. `credentials` are the header names to strip, in lower case.
[[nodiscard]] RequestFault judge_credentials(const Inside& inside, const RequestFacts& facts,
                                             std::span<const std::string> credentials,
                                             const RequestTerms& terms);

}  // namespace stile::acl
