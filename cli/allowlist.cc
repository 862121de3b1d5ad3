// allowlist: the smallest allowlist that covers the requests in a log.
#include "cli/allowlist.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "acl/allowing_pattern.h"
#include "acl/host.h"
#include "audit/text.h"
#include "base/contains.h"
#include "cli/suffixes.h"

namespace stile::cli {
namespace {

using Reasons = std::map<std::string, std::uint64_t>;

// These requests lacked a rule, or at least no rule stopped them.
bool is_for_want_of_a_rule(std::string_view reason) {
  return reason == "host-not-allowed" || reason == "port-not-allowed";
}
bool is_for_want_of_an_entry(std::string_view reason) {
  return reason == "method-not-allowed" || reason == "path-not-allowed";
}
bool is_of_the_origin(std::string_view reason) { return reason.starts_with("origin-"); }
bool has_no_tls(std::string_view reason) {
  return reason == "not-tls" || reason == "client-hello-timeout";
}

// Why no rule is suggested for a refusal; empty: no remark needed.
std::string_view remark_about(std::string_view reason) {
  if (reason == "host-denied") return "a deny rule names it; no allow rule can override that";
  if (reason == "sni-mismatch") return "the name in TLS was another one; that stays refused";
  if (reason == "sni-missing") return "no name in TLS; sni = \"off\" would let it through";
  if (reason == "ech-refused")
    return "an encrypted hello; this host in ech = [\"…\"] would let it through";
  if (reason == "ip-literal") return "an address that only some programs can read";
  if (reason == "address-forbidden") {
    return "resolves to a private address; private_exceptions would let it through";
  }
  if (reason == "dns-failure") return "the name did not resolve";
  if (reason == "bad-request") return "malformed, or with an underscore that no rule names";
  return {};
}

class Gatherer {
 public:
  Gatherer(std::string agent, const AllowlistOptions& options)
      : options_{options},
        ports_{options.ports_of ? options.ports_of(agent) : KnownPorts{}},
        configured_{options.look_alikes_of ? options.look_alikes_of(agent) : nullptr} {
    list_.agent = std::move(agent);
  }

  // A rule allows it: hosts that look like it are not suggested.
  void add_allowed(const std::string& host) {
    if (++allowed_count_ <= acl::LookAlikes::max_names) allowed_.add(host);
  }

  void add(const SeenTarget& target, const SeenOutcome& all, const Seen::Requests& inside) {
    const SeenOutcome outcome = without_inside(target, all, inside);
    Need need = need_of(outcome);
    note(target, outcome.observed);
    note(target, outcome.refused);
    if (need.let_through + need.refused == 0) return;
    if (outcome.allowed == 0) need.looks_like = imitated_by(target.host);
    if (need.let_through == 0 && !need.looks_like.empty()) return warn(target, need);
    const auto parsed = acl::parse_host(target.host);
    if (parsed.kind == acl::HostParse::Kind::ip_literal && parsed.address) {
      merge(addresses_, parsed.address->text(), need);
    } else if (parsed.kind == acl::HostParse::Kind::name) {
      merge(rules_, pattern_of(target, need), need);
    }
  }

  AgentAllowlist finish() {
    list_.inside = cover_requests(needed_, options_.capabilities);
    auto& remarks = list_.inside.remarks;
    list_.remarks.insert(list_.remarks.end(), remarks.begin(), remarks.end());
    remarks.clear();
    list_.suffixes = find_suffixes(hosts_without_port());
    if (options_.use_suffixes) {
      for (const auto& suffix : list_.suffixes) {
        Need sum;
        for (const auto& host : suffix.covers) {
          sum.let_through += rules_[host].let_through;
          sum.refused += rules_[host].refused;
          if (sum.looks_like.empty()) sum.looks_like = rules_[host].looks_like;
          rules_.erase(host);
        }
        merge(rules_, suffix.pattern, sum);
      }
    }
    for (const auto& [text, need] : rules_) list_.allow.push_back(rule_of(text, need));
    for (const auto& [text, need] : addresses_) list_.allow_ip.push_back(rule_of(text, need));
    return std::move(list_);
  }

 private:
  struct Need {
    std::uint64_t let_through = 0, refused = 0;
    std::uint64_t without_tls = 0;  // part of let_through
    std::string looks_like{};
  };
  using Needs = std::map<std::string, Need>;

  // Takes the requests inside opened tunnels; returns what else was seen of the host.
  [[nodiscard]] SeenOutcome without_inside(const SeenTarget& target, SeenOutcome outcome,
                                           const Seen::Requests& inside) {
    const std::size_t before = needed_.size();
    for (const auto& [request, seen] : inside) {
      NeededRequest needed{target.host, target.port, request.method, request.path, seen.allowed, 0};
      outcome.allowed -= seen.allowed;
      for (const auto& [reason, times] : seen.observed) {
        outcome.observed[reason] -= times;
        if (is_for_want_of_an_entry(reason)) needed.let_through += times;
      }
      for (const auto& [reason, times] : seen.refused) {
        outcome.refused[reason] -= times;
        const bool is_wanted = is_for_want_of_an_entry(reason) || is_of_the_origin(reason);
        if (is_wanted && options_.with_denied) needed.refused += times;
      }
      if (needed.let_through + needed.refused > 0) needed_.push_back(std::move(needed));
    }
    std::erase_if(outcome.observed, [](const auto& one) { return one.second == 0; });
    std::erase_if(outcome.refused, [](const auto& one) { return one.second == 0; });
    if (needed_.size() == before || outcome.allowed == 0) return outcome;
    // Once its requests are known, the bare name would allow too much.
    list_.remarks.push_back(target_text(target) + ", " + audit::counted(outcome.allowed, "tunnel") +
                            " that was not opened: what it carried is not known");
    outcome.allowed = 0;
    return outcome;
  }

  [[nodiscard]] Need need_of(const SeenOutcome& outcome) const {
    Need need{outcome.allowed, 0, 0, {}};
    for (const auto& [reason, count] : outcome.observed) {
      if (is_for_want_of_a_rule(reason) || reason == "ip-literal" || has_no_tls(reason)) {
        need.let_through += count;
      }
      if (has_no_tls(reason)) need.without_tls += count;
    }
    for (const auto& [reason, count] : outcome.refused) {
      const bool is_wanted = is_for_want_of_a_rule(reason) || is_of_the_origin(reason);
      if (is_wanted && options_.with_denied) need.refused += count;
    }
    return need;
  }

  [[nodiscard]] std::string pattern_of(const SeenTarget& target, const Need& need) const {
    const auto port = ':' + std::to_string(target.port);
    if (target.scheme == acl::Scheme::http) {
      if (contains(ports_.http_ports, target.port)) return target.host;
      return "http://" + target.host + (target.port == 80 ? "" : port);
    }
    // Only if no request used TLS: such a pattern disables the check of the name in TLS.
    if (need.without_tls > 0 && need.without_tls == need.let_through) {
      return "tcp://" + target.host + port;
    }
    if (contains(ports_.ports, target.port)) return target.host;
    // No tunnel shows what it would have carried: as `explain` advises, by the port.
    if (need.let_through == 0) {
      return acl::allowing_pattern(acl::Reason::port_not_allowed, target.scheme, target.host,
                                   target.port);
    }
    return target.host + port;
  }

  [[nodiscard]] std::string imitated_by(const std::string& host) const {
    auto imitated = allowed_.find(host);
    if (imitated.empty() && configured_ != nullptr) imitated = configured_->find(host);
    return std::string{imitated};
  }

  void warn(const SeenTarget& target, const Need& need) {
    list_.remarks.push_back("WARNING: " + target_text(target) + ", " +
                            audit::counted(need.refused, "time") + ": it looks like " +
                            need.looks_like +
                            ", which is allowed: a typing error, or an imitation");
  }

  void note(const SeenTarget& target, const Reasons& reasons) {
    for (const auto& [reason, count] : reasons) {
      const bool is_listed = reason == "ip-literal" && acl::parse_host(target.host).address;
      const auto remark = remark_about(reason);
      if (is_listed || remark.empty()) continue;
      list_.remarks.push_back(target_text(target) + ", " + audit::counted(count, "time") + ' ' +
                              reason + ": " + std::string{remark});
    }
  }

  [[nodiscard]] std::vector<std::string> hosts_without_port() const {
    std::vector<std::string> hosts;
    for (const auto& [pattern, need] : rules_) {
      if (pattern.find(':') == std::string::npos) hosts.push_back(pattern);
    }
    return hosts;
  }

  static void merge(Needs& needs, const std::string& pattern, const Need& more) {
    auto& need = needs[pattern];
    need.let_through += more.let_through;
    need.refused += more.refused;
    if (need.looks_like.empty()) need.looks_like = more.looks_like;
  }
  static SuggestedRule rule_of(const std::string& pattern, const Need& need) {
    return {pattern, need.let_through, need.refused, need.looks_like};
  }

  const AllowlistOptions& options_;
  KnownPorts ports_;
  const acl::LookAlikes* configured_;
  acl::LookAlikes allowed_;
  std::size_t allowed_count_ = 0;
  AgentAllowlist list_;
  Needs rules_, addresses_;
  std::vector<NeededRequest> needed_;
};

}  // namespace

std::vector<AgentAllowlist> make_allowlists(const Seen& seen, const AllowlistOptions& options) {
  std::map<std::string, Gatherer> gatherers;
  const auto gatherer_of = [&](const std::string& agent) -> Gatherer* {
    if (agent.empty() || (!options.agent.empty() && agent != options.agent)) return nullptr;
    return &gatherers.try_emplace(agent, agent, options).first->second;
  };
  for (const auto& [target, outcome] : seen.targets()) {
    auto* gatherer = gatherer_of(target.agent);
    if (gatherer != nullptr && outcome.allowed > 0) gatherer->add_allowed(target.host);
  }
  for (const auto& [target, outcome] : seen.targets()) {
    if (auto* gatherer = gatherer_of(target.agent)) {
      gatherer->add(target, outcome, seen.inside(target));
    }
  }
  std::vector<AgentAllowlist> lists;
  for (auto& [agent, gatherer] : gatherers) lists.push_back(gatherer.finish());
  return lists;
}

}  // namespace stile::cli
