// advice: the command that an operator types next after a refusal.
#include "cli/advice.h"

namespace stile::cli {
namespace {

std::string with_agent(const std::string& command, const std::string& agent) {
  return agent.empty() ? command : command + ' ' + agent;
}

}  // namespace

std::string pattern_for(acl::Scheme scheme, const std::string& host, std::uint16_t port) {
  const bool is_http = scheme == acl::Scheme::http;
  const std::uint16_t usual = is_http ? 80 : 443;
  std::string pattern = (is_http ? "http://" : "") + host;
  if (port != 0 && port != usual) pattern += ':' + std::to_string(port);
  return pattern;
}

std::string advice_after(const Refused& refused) {
  const std::string_view reason = refused.reason;
  if (reason == "unknown-agent") return "stile agents   (whose source should it be?)";
  if (refused.agent.empty()) return {};
  if (reason == "host-not-allowed" || reason == "port-not-allowed") {
    const auto pattern = pattern_for(refused.scheme, refused.host, refused.port);
    // A pattern is LDH labels, a scheme and a port: nothing in it means anything to a shell.
    if (!acl::Pattern::parse(pattern)) return {};
    return "stile allow " + refused.agent + ' ' + pattern + " --for 10m";
  }
  if (reason == "host-denied") {
    return "a deny rule wins: stile explain shows its file and line; mend it, then: stile reload";
  }
  if (reason == "offline") return with_agent("stile mode enforce", refused.agent);
  if (reason == "agent-expired") return "stile put-agent FILE   (with a new ttl_seconds)";
  if (reason == "ip-literal") return "ask the client for a name, or add the address to allow_ip";
  if (reason == "budget-exhausted") return "stile budget reset " + refused.agent;
  if (reason == "too-many-connections") return "stile connections --agent " + refused.agent;
  if (reason == "address-forbidden") {
    return "its name resolves to a private address: see private_exceptions in the config";
  }
  if (reason == "not-tls") {
    const auto pattern = "tcp://" + refused.host + ':' + std::to_string(refused.port);
    if (!acl::Pattern::parse(pattern)) return {};
    return "stile allow " + refused.agent + ' ' + pattern + "   (a tunnel without TLS inside)";
  }
  if (reason == "ech-refused") {
    const auto pattern = pattern_for(acl::Scheme::tunnel, refused.host, refused.port);
    if (!acl::Pattern::parse(pattern)) return {};
    return "add \"" + pattern + "\" to ech in the entry of " + refused.agent +
           ", then: stile reload   (Chromium sends such hellos always)";
  }
  return {};
}

}  // namespace stile::cli
