// Fuzzes the way from raw authority to canonical host: what comes out keeps its promises, and what
// the C library takes for an address is an IP literal here too.
#include <netdb.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "acl/decide.h"

namespace {

using namespace stile::acl;
using Kind = HostParse::Kind;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_numeric_to_libc(const std::string& text) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

void check_name(const HostParse& parse) {
  const std::string_view name = parse.host.text();
  require(!name.empty() && name.size() <= Host::max_length);
  require(!name.starts_with('.') && !name.ends_with('.'));
  for (const char c : name) {
    require((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_');
  }
  const HostParse again = parse_host(name);
  require(again.kind == Kind::name && again.host == parse.host);
  require(parse_host(std::string{name} + '.').host == parse.host);
  require(!is_numeric_to_libc(std::string{name}));
}

void check_host(std::string_view raw) {
  const HostParse parse = parse_host(raw);
  require((parse.kind == Kind::name) == !parse.host.text().empty());
  require(parse.kind == Kind::ip_literal || !parse.address);
  if (parse.kind == Kind::name) check_name(parse);
  if (parse.address) {
    const std::string text = parse.address->text();
    const std::string literal = parse.address->is_v4() ? text : '[' + text + ']';
    require(parse_host(literal).address == parse.address);
  }
  // A C string ends at its first zero byte; what is in front of one was not the whole host.
  const bool is_c_string = raw.find('\0') == std::string_view::npos;
  if (is_c_string && is_numeric_to_libc(std::string{raw})) require(parse.kind == Kind::ip_literal);
}

void check_decision(const Authority& authority) {
  static const AgentPolicy blank;
  static const AgentPolicy all = [] {
    AgentPolicy policy;
    RuleSet::Builder builder{"fuzz"};
    builder.add(*Pattern::parse("*"), 1);
    policy.allow.sets.push_back(std::move(builder).build());
    return policy;
  }();
  Query query;
  query.agent = &blank;
  query.authority = authority;
  require(!decide(query).passes());

  query.agent = &all;
  Trace trace;
  const Decision decision = decide(query, &trace);
  require(trace.back().result.starts_with(text(decision.verdict)));
  if (!decision.passes()) return;
  require(decision.port == 443 && !decision.host.text().empty());
  require(parse_port(authority.port) == decision.port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view raw{reinterpret_cast<const char*>(data), size};
  const Authority authority = split_authority(raw);
  require(authority.host.size() + authority.port.size() + (authority.has_port ? 1 : 0) == size);
  check_host(raw);
  check_host(authority.host);
  check_decision(authority);
  return 0;
}
