// advice: one answer for each reason code.
#include "cli/advice.h"

#include <algorithm>
#include <array>

#include "cli/look_alike.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

// Protocols that do not begin with a TLS hello, by their usual port.
constexpr std::array<std::uint16_t, 11> ports_without_tls{21,  22,   25,   80,   110, 143,
                                                          587, 3306, 5432, 6379, 9418};
// How the daemon names the rules of `stile revoke`.
constexpr std::string_view revoked_mark = " (revoked through the control socket)";
constexpr std::size_t most_typed_patterns = 20;

bool is_plain_word(std::string_view text) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/";
  return !text.empty() && text.find_first_not_of(harmless) == std::string_view::npos;
}

// For a shell.
std::string word(const std::string& text) {
  if (is_plain_word(text)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + "'";
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

Advice allow(const Refused& refused, const Situation& situation, const std::string& pattern,
             const std::string& note = {}) {
  // A pattern is LDH labels, a scheme and a port: nothing in it means anything to a shell.
  if (!acl::Pattern::parse(pattern) || !is_plain_word(pattern)) {
    return {{}, "the host is malformed; no rule can allow it"};
  }
  if (situation.is_stile_run) return {{}, "add to stile run: --allow " + pattern};
  return {"stile allow " + refused.agent + ' ' + pattern + " --for 10m", note};
}

Advice allow_without_tls(const Refused& refused, const Situation& situation) {
  return allow(refused, situation, "tcp://" + refused.host + ':' + std::to_string(refused.port),
               "tcp:// is a tunnel without TLS inside: the name in it cannot be checked");
}

Advice after_host_or_port(const Refused& refused, const Situation& situation) {
  if (const auto known = look_alike(refused.host, situation.allow); !known.empty()) {
    return {{},
            "WARNING: " + (is_plain_word(refused.host) ? refused.host : std::string{"this name"}) +
                " looks like " + known + ", which " + refused.agent +
                " may reach: a typing error, or an imitation. Find out who owns it before you "
                "allow it"};
  }
  const bool speaks_no_tls = refused.scheme == acl::Scheme::tunnel &&
                             std::find(ports_without_tls.begin(), ports_without_tls.end(),
                                       refused.port) != ports_without_tls.end();
  if (speaks_no_tls) return allow_without_tls(refused, situation);
  return allow(refused, situation, pattern_for(refused.scheme, refused.host, refused.port));
}

Advice after_deny_rule(const Refused& refused, const Situation& situation) {
  const std::string_view rule = refused.rule;
  if (rule.ends_with(revoked_mark)) {
    const std::string pattern{rule.substr(0, rule.size() - revoked_mark.size())};
    return {"stile allow " + refused.agent + ' ' + word(pattern), "it was revoked by hand"};
  }
  if (situation.is_stile_run) return {{}, "a --deny wins over every --allow; leave it out"};
  const std::string named = rule.empty() ? std::string{"stile explain names it"} : refused.rule;
  return {{},
          "a deny rule wins over every allow rule and grant (" + named +
              "): remove it, then: stile check && stile reload"};
}

Advice after_offline(const Refused& refused, const Situation& situation) {
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
    for (const auto& pattern : situation.allow) command += " --allow " + word(pattern);
    return {std::move(command), "as root: the agent lives in a namespace"};
  }
  const auto note = change_entry(refused, situation, "set a later `expires` or `ttl_seconds`");
  return {{}, note};
}

Advice after_nobody(const Situation& situation) {
  if (situation.is_stile_run) return {};
  return {"stile agents",
          "the source address belongs to no agent: add it to `source` in an agent's entry, then: "
          "stile reload"};
}

Advice after_ech(const Refused& refused, const Situation& situation) {
  const bool is_name = acl::Pattern::parse(refused.host) && is_plain_word(refused.host);
  if (!is_name) return {};
  if (situation.is_stile_run) return {{}, "add to stile run: --ech " + refused.host};
  return {{},
          "the TLS hello may hide another name (ECH; Chromium always sends one like it): " +
              change_entry(refused, situation, "set ech = [\"" + refused.host + "\"]")};
}

}  // namespace

std::string pattern_for(acl::Scheme scheme, const std::string& host, std::uint16_t port) {
  const bool is_http = scheme == acl::Scheme::http;
  const std::uint16_t usual = is_http ? 80 : 443;
  std::string pattern = (is_http ? "http://" : "") + host;
  if (port != 0 && port != usual) pattern += ':' + std::to_string(port);
  return pattern;
}

Advice advice_after(const Refused& refused, const Situation& situation) {
  const std::string_view reason = refused.reason;
  const auto entry = [&](const std::string& change) {
    return Advice{{}, change_entry(refused, situation, change)};
  };
  if (reason == "unknown-agent") return after_nobody(situation);
  if (reason == "overloaded") return {"stile status", "see `connections` in [limits]"};
  if (reason == "draining") return {"stile status", "the daemon is about to stop; start it again"};
  if (reason == "audit-unavailable") {
    return {"stile doctor", "the audit log cannot be written, and nothing passes without its line"};
  }
  if (reason == "internal-error") return {"journalctl -u stiled -n 50", "this is a bug of stiled"};
  if (refused.agent.empty()) return {};
  if (reason == "host-not-allowed" || reason == "port-not-allowed") {
    return after_host_or_port(refused, situation);
  }
  if (reason == "not-tls" || reason == "client-hello-timeout") {
    return allow_without_tls(refused, situation);
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
  if (reason == "ip-literal") {
    return entry("let the client ask for a name, or add the address to allow_ip");
  }
  if (reason == "address-forbidden") {
    return entry(
        "the name has only private addresses; if that is meant, add them to "
        "private_exceptions");
  }
  if (reason == "sni-missing") {
    return entry("the client names no server in its TLS hello; if it cannot, set sni = \"off\"");
  }
  if (reason == "sni-mismatch") {
    return {{},
            "the client asked for one name and speaks TLS to another: domain fronting. It stays "
            "refused"};
  }
  if (reason == "bad-request") return {{}, "the request is malformed; no rule can allow it"};
  if (reason == "dns-failure") {
    return {{}, "the name does not resolve for the proxy: see [dns] servers, or the name is wrong"};
  }
  if (reason.starts_with("origin-")) {
    return {{}, "the policy allows it, but the origin fails; try it from the proxy's host"};
  }
  if (reason.starts_with("header-")) return {{}, "see header_bytes, header_timeout_ms in [limits]"};
  if (reason == "revoked") {
    return {"stile agents " + refused.agent, "the policy changed while it was open"};
  }
  if (reason == "rate-limited") return {{}, "see in_flight_per_agent in [dns]"};
  if (reason == "idle-timeout") return {{}, "see idle_timeout_ms in [limits]"};
  return {};
}

std::string advice_text(const Advice& advice, std::string_view indent) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& words) {
    if (!words.empty()) text.append(indent).append(label).append(config::printable(words)) += '\n';
  };
  add("next: ", advice.command);
  add("note: ", advice.note);
  return text;
}

}  // namespace stile::cli
