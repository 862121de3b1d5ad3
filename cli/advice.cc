// advice: one answer for each reason code.
#include "cli/advice.h"

#include "acl/address.h"
#include "acl/localhost.h"
#include "acl/look_alike.h"
#include "acl/remedy.h"
#include "acl/rule_search.h"
#include "acl/secret.h"
#include "acl/token_request.h"
#include "base/contains.h"
#include "base/quoted.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

// How the daemon names the rules of `stile revoke`.
constexpr std::string_view revoked_mark = " (revoked through the control socket)";
constexpr std::size_t most_typed_patterns = 20;

// As far as the daemon has listed its rules.
acl::Rules rules_of(const std::vector<std::string>& patterns) {
  acl::RuleSet::Builder builder{"the daemon"};
  for (const auto& pattern : patterns) static_cast<void>(builder.add_text(pattern, 0));
  acl::Rules rules{{std::move(builder).build()}, nullptr};
  if (auto regexes = acl::RegexSet::compile(rules.sets)) rules.regexes = std::move(*regexes);
  return rules;
}

acl::AgentPolicy policy_of(const Situation& situation) {
  acl::AgentPolicy policy;
  policy.ports = situation.ports;
  policy.http_ports = situation.http_ports;
  policy.allow = rules_of(situation.allow);
  policy.deny = rules_of(situation.deny);
  policy.look_alikes = acl::LookAlikes::of(policy.allow);
  return policy;
}

acl::Remedy remedy_after(const Refused& refused, const Situation& situation) {
  const auto policy = policy_of(situation);
  const auto reason = acl::reason_named(refused.reason).value_or(acl::Reason::internal_error);
  return acl::remedy_for({reason, refused.scheme, refused.host, refused.port}, &policy);
}

// Where the agent's keys are changed, and how the change takes effect.
std::string change_entry(const Refused& refused, const Situation& situation,
                         const std::string& change) {
  if (situation.is_stile_run) return change + " in a card, and give it to: stile run --card FILE";
  if (situation.entry == "put-agent") {
    return change + " in the card of " + refused.agent + ", then: stile put-agent FILE";
  }
  const std::string place = situation.entry.empty() ? std::string{} : " (" + situation.entry + ')';
  return change + " in the entry of " + refused.agent + place + ", then: stile reload";
}

Advice allow(const Refused& refused, const Situation& situation, const std::string& pattern) {
  if (pattern.empty() && acl::is_localhost(acl::parse_host(refused.host).host.text())) {
    return {{},
            "localhost is the host of the proxy itself, to which Stile does not connect; give the "
            "service another name, and its address to private_exceptions"};
  }
  // A pattern is LDH labels, a scheme and a port: nothing in it means anything to a shell.
  if (pattern.empty() || !is_plain_word(pattern)) {
    return {{}, "the host is malformed; no rule can allow it"};
  }
  if (situation.is_stile_run) return {{}, "add to stile run: --allow " + pattern};
  if (situation.is_gone) return {{}, "agent " + refused.agent + " no longer exists"};
  return {"stile allow " + refused.agent + ' ' + pattern + " --for 10m",
          pattern.starts_with("tcp://")
              ? "tcp:// is a tunnel without TLS inside: the name in it cannot be checked"
              : ""};
}

Advice after_deny_rule(const Refused& refused, const Situation& situation) {
  const std::string_view rule = refused.rule;
  if (rule.ends_with(revoked_mark)) {
    const std::string pattern{rule.substr(0, rule.size() - revoked_mark.size())};
    return {"stile allow " + refused.agent + ' ' + shell_word(pattern), "an operator revoked it"};
  }
  if (situation.is_stile_run) return {{}, "a --deny wins over every --allow; leave it out"};
  const std::string named = rule.empty() ? std::string{"stile explain names it"} : refused.rule;
  return {{},
          "a deny rule wins over every allow rule and grant (" + named +
              "): remove it, then: stile check && stile reload"};
}

bool is_asked(const Refused& refused) { return !refused.ask.empty() && is_plain_word(refused.ask); }

Advice after_ask(const Refused& refused) {
  return {"stile approve " + refused.ask + " --for 1h",
          refused.agent + " asked for it; `stile asks` lists what is still open"};
}

// Refused because no rule fits.
Advice after_want_of_a_rule(const Refused& refused, const Situation& situation) {
  const auto remedy = remedy_after(refused, situation);
  if (!remedy.imitated.empty()) {
    return {{},
            "WARNING: " + (is_plain_word(refused.host) ? refused.host : std::string{"this name"}) +
                " looks like " + remedy.imitated + ", which " + refused.agent +
                " may reach: a typing error, or an imitation. Find out who owns it before you "
                "allow it"};
  }
  if (!remedy.denied_by.empty()) {
    const auto& revoked = situation.revoked;
    const bool is_revoked = contains(revoked, remedy.denied_by);
    Refused denied = refused;
    denied.rule = remedy.denied_by + (is_revoked ? std::string{revoked_mark} : std::string{});
    return after_deny_rule(denied, situation);
  }
  if (is_asked(refused)) return after_ask(refused);
  return allow(refused, situation, remedy.pattern);
}

Advice after_bad_request(const Refused& refused, const Situation& situation) {
  // A name with an underscore needs a rule that names it.
  const auto remedy = remedy_after(refused, situation);
  if (!remedy.pattern.empty() || !remedy.denied_by.empty()) {
    return after_want_of_a_rule(refused, situation);
  }
  const auto what = refused.detail.empty() ? std::string{} : ": " + refused.detail;
  return {{}, "the request is malformed" + what + "; no rule can allow it"};
}

Advice after_offline(const Refused& refused, const Situation& situation) {
  if (situation.fleet_is_offline) return {{}, std::string{fleet_offline_note}};
  if (situation.everybody_is_offline) return {"stile mode enforce", "all agents are offline"};
  return {"stile mode enforce " + refused.agent, {}};
}

Advice after_expiry(const Refused& refused, const Situation& situation) {
  if (situation.entry.starts_with(runtime_cards)) {
    if (!situation.has_only_allow_rules || situation.allow.size() > most_typed_patterns) {
      return {
          {},
          "as root, with its card: stile-netns create " + refused.agent + " --card FILE --ttl 1h"};
    }
    std::string command = "stile-netns create " + refused.agent + " --ttl 1h";
    for (const auto& pattern : situation.allow) command += " --allow " + shell_word(pattern);
    return {std::move(command), "as root: the agent lives in a namespace"};
  }
  const auto note = change_entry(refused, situation, "set a later `expires` or `ttl_seconds`");
  return {{}, note};
}

Advice after_unknown_agent(const Refused& refused, const Situation& situation) {
  if (situation.is_stile_run) return {};
  const auto source = refused.source.empty() ? std::string{"the source address"} : refused.source;
  return {"stile agents", source +
                              " belongs to no agent: add it to `source` in an agent's entry, then: "
                              "stile reload"};
}

Advice after_literal(const Refused& refused, const Situation& situation) {
  std::string_view address = refused.host;
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  if (!acl::Address::parse(address)) {
    return {{}, "use a name in the client; allow_ip covers only addresses in their plain form"};
  }
  return {
      {},
      change_entry(refused, situation, "use a name in the client, or add the address to allow_ip")};
}

Advice after_ech(const Refused& refused, const Situation& situation) {
  const bool is_name = acl::Pattern::parse(refused.host) && is_plain_word(refused.host);
  if (!is_name) return {};
  if (situation.is_stile_run) return {{}, "add to stile run: --ech " + refused.host};
  return {{},
          "the TLS hello may hide another name (ECH; Chromium always sends one like it): " +
              change_entry(refused, situation, "set ech = [\"" + refused.host + "\"]")};
}

// The policy changed while it was open. Only a new decision can tell what refuses it now.
Advice after_revoked(const Refused& refused, const Situation& situation) {
  if (situation.is_gone) return {{}, "agent " + refused.agent + " no longer exists"};
  const std::string note = "the policy changed while it was open";
  if (!is_plain_word(refused.host) || refused.port == 0) {
    return {"stile agents " + refused.agent, note};
  }
  const std::string target = refused.host + ':' + std::to_string(refused.port);
  return {"stile explain " + refused.agent + ' ' +
              (refused.scheme == acl::Scheme::http ? "http://" + target + '/' : target),
          note};
}

Advice after_internal_error(const Refused& refused) {
  if (refused.detail != acl::no_secret_value) {
    return {"journalctl -u stiled -n 50", "this is a bug in stiled"};
  }
  return {"stile secrets",
          "its command fails, and the messages of stiled say why; when the command works again, "
          "stiled uses its value within 10 seconds"};
}

// Refused by a bound of the daemon, which a reload changes.
Advice raise(const char* key, const char* section, const Situation& situation) {
  return {{},
          "raise " + std::string{key} + " in [" + section + ']' +
              (situation.is_stile_run ? " of a stile.toml, and give it to: stile run --config FILE"
                                      : ", then: stile reload")};
}

// Refused inside TLS that Stile ends.
template <class Entry>
Advice after_inside(const Refused& refused, const Entry& entry) {
  const std::string_view reason = refused.reason;
  if (refused.detail == acl::batch_fault || refused.detail == acl::websocket_fault) {
    return entry(refused.detail +
                 ": it stays refused while `tokens` limits this host; send single requests, or "
                 "remove `tokens` from the `budget` entry of this host");
  }
  if (reason == "method-not-allowed") return entry("add the method to a `request` entry");
  if (reason == "path-not-allowed") return entry("add the path to a `request` entry");
  if (reason == "upgrade-not-allowed") return entry("set websocket = true in a `request` entry");
  if (reason == "body-too-large") return entry("raise max_body in a `request` entry");
  if (reason == "ref-not-allowed") {
    return entry("add the ref to git:push in `can`; deletions and signed pushes stay refused");
  }
  if (reason == "credential-refused") {
    return {{},
            "remove the key from the client, or set own = \"replace\" in [[secret]], then: stile "
            "reload"};
  }
  if (reason == "placeholder-misplaced") {
    return {{}, "the client sent the placeholder outside of the secret's header: it stays refused"};
  }
  if (reason == "secret-found") {
    return entry("if what was found is harmless, take the scan out of `scan`");
  }
  if (reason == "host-mismatch") {
    return {{}, "the request names another host than its tunnel: it stays refused"};
  }
  if (reason == "client-tls-failed") {
    return entry(
        "make the client trust what `stile ca` prints; if it pins a certificate, remove the "
        "`request` entries and secrets for this host");
  }
  if (reason == "no-application-protocol") {
    return entry(
        "make the client use HTTP/1.1, or remove the `request` entries and secrets for this host");
  }
  return {};
}

}  // namespace

Advice advice_after(const Refused& refused, const Situation& situation) {
  const std::string_view reason = refused.reason;
  const auto entry = [&](const std::string& change) {
    return Advice{{}, change_entry(refused, situation, change)};
  };
  if (reason == "unknown-agent") return after_unknown_agent(refused, situation);
  if (reason == "overloaded") return {"stile status", "see `connections` in [limits]"};
  if (reason == "draining") {
    return {"stile status", "the daemon is shutting down; when it has stopped, start it again"};
  }
  if (reason == "audit-unavailable") {
    return {"stile doctor", "the audit log cannot be written, and nothing passes without its line"};
  }
  if (reason == "internal-error") return after_internal_error(refused);
  if (refused.agent.empty()) return {};
  if (reason == "host-not-allowed" || reason == "port-not-allowed") {
    return after_want_of_a_rule(refused, situation);
  }
  if ((reason == "method-not-allowed" || reason == "path-not-allowed") && is_asked(refused)) {
    return after_ask(refused);
  }
  if (reason == "not-tls" || reason == "client-hello-timeout") {
    return allow(refused, situation, remedy_after(refused, situation).pattern);
  }
  if (reason == "host-denied") return after_deny_rule(refused, situation);
  if (reason == "offline") return after_offline(refused, situation);
  if (reason == "agent-expired") return after_expiry(refused, situation);
  if (reason == "budget-exhausted") return {"stile budget reset " + refused.agent, {}};
  if (reason == "ech-refused") return after_ech(refused, situation);
  if (reason == "too-many-connections") {
    return {"stile connections --agent " + refused.agent,
            change_entry(refused, situation, "if it needs more, raise connections_per_agent")};
  }
  if (reason == "ip-literal") return after_literal(refused, situation);
  if (reason == "address-forbidden") {
    return entry(
        "the name has only private addresses; if that is intended, add them to "
        "private_exceptions");
  }
  if (reason == "sni-missing") {
    return entry(
        "the TLS hello has no server name; if the client cannot send one, set sni = \"off\"");
  }
  if (reason == "sni-mismatch") {
    return {{},
            "the CONNECT names one host and the TLS hello another: domain fronting. It stays "
            "refused"};
  }
  if (reason == "bad-request") return after_bad_request(refused, situation);
  if (reason == "dns-failure") {
    return {{}, "the name does not resolve for the proxy: see [dns] servers, or the name is wrong"};
  }
  if (reason == "origin-certificate") {
    const std::string change =
        "the origin's certificate was not accepted; if a CA of your own signed it, add that CA to "
        "trust in [intercept]";
    return {{},
            change + (situation.is_stile_run
                          ? " of a stile.toml, and give it to: stile run --config FILE"
                          : ", then: stile reload")};
  }
  if (reason.starts_with("origin-")) {
    return {{}, "the policy allows it, but the origin fails; try it from the proxy's host"};
  }
  if (reason == "header-too-large") return raise("header_bytes", "limits", situation);
  if (reason == "header-timeout") return raise("header_timeout_ms", "limits", situation);
  if (reason == "revoked") return after_revoked(refused, situation);
  if (reason == "rate-limited") return raise("in_flight_per_agent", "dns", situation);
  if (reason == "idle-timeout") return raise("idle_timeout_ms", "limits", situation);
  return after_inside(refused, entry);
}

namespace {

// What a pattern for one host reaches; a bare one stands for the listed ports.
acl::Destination destination_of(const acl::Pattern& host, const acl::HostKey& key) {
  const bool is_bare = host.reach == acl::Pattern::Reach::bare;
  const bool is_http = host.reach == acl::Pattern::Reach::http;
  return {key, is_http ? acl::Scheme::http : acl::Scheme::tunnel, host.port, is_bare};
}

}  // namespace

std::string allowing_rule(const Situation& situation, const acl::Pattern& host) {
  const auto parsed = acl::parse_host(host.name);
  const bool is_one = host.kind == acl::Pattern::Kind::exact &&
                      host.reach != acl::Pattern::Reach::tcp &&
                      parsed.kind == acl::HostParse::Kind::name;
  if (!is_one) return {};
  const acl::HostKey key{parsed.host};
  const auto policy = policy_of(situation);
  const auto found = acl::find_allow(policy, destination_of(host, key), {});
  return found ? found.rule.pattern() : std::string{};
}

std::string denying_rule(const Situation& situation, const acl::Pattern& host) {
  const auto parsed = acl::parse_host(host.name);
  if (parsed.kind != acl::HostParse::Kind::name) return {};
  const acl::HostKey key{parsed.host};
  const auto policy = policy_of(situation);
  const auto found = acl::find_deny(policy, destination_of(host, key));
  return found.rule ? found.rule.pattern() : std::string{};
}

std::string advice_text(const Advice& advice, std::string_view indent) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& words) {
    if (!words.empty()) text.append(indent).append(label).append(printable(words)) += '\n';
  };
  add("next: ", advice.command);
  add("note: ", advice.note);
  return text;
}

}  // namespace stile::cli
