// The policies that a fuzzed connection meets, and what each of them lets through, said twice.
#include "tests/fuzz/connection_policy.h"

#include <vector>

#include "scan/watch.h"
#include "tests/fuzz/check.h"

namespace stile::fuzz {
namespace {

acl::Rules rules(const std::vector<std::string>& patterns) {
  acl::RuleSet::Builder builder{"list"};
  std::uint32_t line = 0;
  for (const auto& text : patterns) STILE_FUZZ_CHECK(builder.add_text(text, ++line));
  acl::Rules made;
  made.sets.push_back(std::move(builder).build());
  return made;
}

std::shared_ptr<const scan::Watch> watch_for(Stage stage) {
  if (stage != Stage::searching && stage != Stage::searching_more) return nullptr;
  std::vector<scan::Scan> scans{{"first", std::string{never_out}}};
  if (stage == Stage::searching_more) scans.push_back({"second", std::string{never_out_later}});
  auto rules = scan::ScanRules::compile(std::move(scans));
  STILE_FUZZ_CHECK(rules);
  return std::make_shared<scan::Watch>(*rules, std::vector<std::shared_ptr<const acl::Secret>>{},
                                       std::vector<std::string>{});
}

}  // namespace

std::string_view host_of(const acl::Address& address) {
  static const auto hosts = dns::parse_hosts(std::string{hosts_text} + std::string{dns_text});
  for (const auto& [name, resolved] : hosts) {
    for (const auto& own : resolved.addresses) {
      if (own == address) return name;
    }
  }
  return {};
}

std::shared_ptr<const acl::Snapshot> snapshot_of(Stage stage, std::uint64_t generation,
                                                 const std::shared_ptr<acl::Account>& account) {
  std::vector<std::shared_ptr<const acl::AgentPolicy>> agents;
  if (stage != Stage::agent_gone) {
    auto agent = std::make_shared<acl::AgentPolicy>();
    agent->id = "alpha";
    agent->sources = {*acl::Prefix::parse("10.9.0.1/32")};
    agent->http_ports = {80};
    agent->requests_per_second = 0;
    agent->strip_request_headers = stripped_by(stage);
    agent->account = account;
    if (stage != Stage::nothing)
      agent->allow = rules({"a.test", "b.test", "c.test", "inside.test"});
    if (stage == Stage::without_b) agent->deny = rules({"b.test"});
    agent->watch = watch_for(stage);
    if (stage == Stage::offline) agent->mode = acl::Mode::offline;
    if (stage == Stage::observe) agent->mode = acl::Mode::observe;
    agents.push_back(std::move(agent));
  }
  return std::make_shared<acl::Snapshot>(generation, std::move(agents));
}

std::vector<std::string> stripped_by(Stage stage) {
  if (stage == Stage::without_b) return {"authorization", "x-secret"};
  return {"authorization"};
}

bool may_reach(Stage stage, std::string_view host) {
  switch (stage) {
    case Stage::all:
    case Stage::searching:
    case Stage::searching_more:
      return host == "a.test" || host == "b.test" || host == "c.test";
    case Stage::without_b:
      return host == "a.test" || host == "c.test";
    case Stage::observe:
      return host == "a.test" || host == "b.test" || host == "c.test" || host == "evil.test";
    default:
      return false;
  }
}

}  // namespace stile::fuzz
