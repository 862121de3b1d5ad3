// The ordered list: the first rule that holds decides, with squid's meaning.
#include "acl/access_list.h"

#include <gtest/gtest.h>

#include "acl/decide.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using Outcome = AccessList::Outcome;
using test::address;

std::shared_ptr<const RuleSet> names(const std::vector<std::string>& patterns) {
  RuleSet::Builder set{"squid.conf"};
  for (const auto& pattern : patterns) EXPECT_TRUE(set.add_text(pattern, 1));
  return std::move(set).build();
}

// The conditions that the rules of these tests name by their index.
enum : std::uint32_t {
  localnet,
  to_localhost,
  allowed,
  numbered,
  ssl_ports,
  connects,
  manager,
  all
};

std::vector<Condition> conditions() {
  std::vector<Condition> list(8);
  list[localnet].kind = Condition::Kind::source;
  list[localnet].addresses = AddressSet{
      {{address("10.0.0.0"), address("10.0.0.255")}, {address("0.0.0.1"), address("0.0.0.9")}}};
  list[to_localhost].kind = Condition::Kind::destination;
  list[to_localhost].addresses = AddressSet{{{address("127.0.0.0"), address("127.255.255.255")}}};
  list[allowed].kind = Condition::Kind::domain;
  list[allowed].names = names({".example.com", "api.test", "my_host.test"});
  list[allowed].literals = {address("192.0.2.7")};
  list[numbered].kind = Condition::Kind::domain_regex;
  list[numbered].regexes = *RegexSet::compile({names({"~.*api[0-9].*"})});
  list[ssl_ports].kind = Condition::Kind::port;
  list[ssl_ports].ports = {{443, 443}, {1025, 65535}};
  list[connects].kind = Condition::Kind::method;
  list[connects].methods = {"CONNECT", "Purge"};
  list[manager].kind = Condition::Kind::manager;
  list[all].kind = Condition::Kind::source;
  list[all].addresses =
      AddressSet{{{address("0.0.0.0"), address("255.255.255.255")},
                  {address("::"), address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}}};
  return list;
}

AccessRule rule(bool allows, std::vector<AccessRule::Term> terms) {
  return {allows, std::move(terms), "line", "name", Reason::host_denied};
}

AccessList list_of(std::vector<AccessRule> rules) {
  return {conditions(), std::move(rules), {false, {}, "end", "all", Reason::host_not_allowed}};
}

// A request, with everything that a test does not care for filled in.
struct Asked {
  std::string host = "www.example.com";
  std::uint16_t port = 443;
  std::string method = "CONNECT";
  std::string source = "10.0.0.7";
  std::string path{};
  std::vector<std::string> addresses{};
};

Outcome::Kind ask(const AccessList& list, const Asked& asked) {
  const HostParse parse = parse_host(asked.host);
  const HostKey key{parse.host};
  std::vector<Address> addresses;
  for (const auto& text : asked.addresses) addresses.push_back(address(text));
  if (parse.address) addresses = {*parse.address};
  AccessQuery query;
  query.source = address(asked.source);
  query.method = asked.method;
  query.path = asked.path;
  query.key = parse.kind == HostParse::Kind::name ? &key : nullptr;
  query.port = asked.port;
  query.addresses = addresses.empty() ? nullptr : &addresses;
  return list.ask(query).kind;
}

TEST(AccessList, DeniesEverythingWithoutRules) {
  EXPECT_EQ(ask(list_of({}), {}), Outcome::Kind::deny);
}

TEST(AccessList, EndsWithTheOppositeOfTheLastRule) {
  EXPECT_EQ(ask(list_of({rule(false, {{allowed, true}})}), {}), Outcome::Kind::allow);
  EXPECT_EQ(ask(list_of({rule(true, {{allowed, true}})}), {}), Outcome::Kind::deny);
}

TEST(AccessList, TakesTheFirstRuleThatHolds) {
  const auto rules = list_of({rule(false, {{connects}, {ssl_ports, true}}),
                              rule(true, {{localnet}, {allowed}}), rule(false, {{all}})});
  EXPECT_EQ(ask(rules, {}), Outcome::Kind::allow);
  EXPECT_EQ(ask(rules, {.port = 25}), Outcome::Kind::deny);
  EXPECT_EQ(ask(rules, {.port = 25, .method = "GET"}), Outcome::Kind::allow);
  EXPECT_EQ(ask(rules, {.host = "evil.test"}), Outcome::Kind::deny);
  EXPECT_EQ(ask(rules, {.source = "10.0.1.0"}), Outcome::Kind::deny);
}

TEST(AccessList, AsksEachConditionAsSquidDoes) {
  struct Row {
    std::uint32_t condition;
    Asked asked;
    bool holds;
  };
  const Row rows[] = {
      {localnet, {.source = "10.0.0.0"}, true},
      {localnet, {.source = "10.0.0.255"}, true},
      {localnet, {.source = "10.0.1.0"}, false},
      {localnet, {.source = "9.255.255.255"}, false},
      {localnet, {.source = "0.0.0.5"}, true},
      {localnet, {.source = "::1"}, false},
      {all, {.source = "::1"}, true},
      {allowed, {.host = "example.com"}, true},
      {allowed, {.host = "a.b.example.com"}, true},
      {allowed, {.host = "notexample.com"}, false},
      {allowed, {.host = "api.test"}, true},
      {allowed, {.host = "x.api.test"}, false},
      {allowed, {.host = "192.0.2.7"}, true},
      {allowed, {.host = "192.0.2.8"}, false},
      {numbered, {.host = "my-api7.test"}, true},
      {numbered, {.host = "my-apix.test"}, false},
      {ssl_ports, {.port = 1024}, false},
      {ssl_ports, {.port = 65535}, true},
      {connects, {.method = "connect"}, true},  // squid takes the methods it knows in any case
      {connects, {.method = "Purge"}, true},
      {connects, {.method = "PURGE"}, false},
      {manager, {.path = "/squid-internal-mgr/menu"}, true},
      {manager, {.path = "/%73quid-internal-mgr/"}, true},
      {manager, {.path = "/squid-internal-mgr"}, false},
      {manager, {.path = "/%7"}, false},
      {manager, {}, false},
      {to_localhost, {.addresses = {"192.0.2.1", "127.0.0.2"}}, true},
      {to_localhost, {.addresses = {"192.0.2.1"}}, false},
      {to_localhost, {.host = "127.9.9.9"}, true},
  };
  for (const auto& [condition, asked, holds] : rows) {
    SCOPED_TRACE(std::to_string(condition) + " " + asked.host + " " + asked.source + " " +
                 asked.method + " " + asked.path);
    EXPECT_EQ(ask(list_of({rule(true, {{condition}})}), asked),
              holds ? Outcome::Kind::allow : Outcome::Kind::deny);
    EXPECT_EQ(ask(list_of({rule(true, {{condition, true}}), rule(false, {{all}})}), asked),
              holds ? Outcome::Kind::deny : Outcome::Kind::allow);
  }
}

TEST(AccessList, WaitsForAddressesOnlyWhereTheyMatter) {
  const auto rules =
      list_of({rule(false, {{to_localhost}}), rule(true, {{allowed}}), rule(false, {{all}})});
  EXPECT_EQ(ask(rules, {}), Outcome::Kind::unresolved);
  EXPECT_EQ(ask(rules, {.addresses = {"192.0.2.1"}}), Outcome::Kind::allow);
  EXPECT_EQ(ask(rules, {.addresses = {"192.0.2.1", "127.0.0.1"}}), Outcome::Kind::deny);
  EXPECT_EQ(ask(rules, {.host = "evil.test"}),
            Outcome::Kind::deny);  // no look-up of what is denied anyhow
  const auto both = list_of({rule(true, {{allowed}, {to_localhost, true}}), rule(false, {{all}})});
  EXPECT_EQ(ask(both, {}), Outcome::Kind::unresolved);
  EXPECT_EQ(ask(both, {.host = "evil.test"}), Outcome::Kind::deny);
}

TEST(AccessList, DeniesIfAnExpressionCannotRun) {
  auto broken = conditions();
  broken[numbered].regexes = RegexSet::that_cannot_run();
  for (const bool is_negated : {false, true}) {
    const AccessList list{broken, {rule(true, {{numbered, is_negated}}), rule(true, {{all}})}, {}};
    EXPECT_EQ(ask(list, {}), Outcome::Kind::deny);
  }
}

// The same list behind the decision function.
class AccessListDecide : public testing::Test {
 protected:
  AccessListDecide() {
    auto list = list_of({rule(false, {{to_localhost}}), rule(false, {{ssl_ports, true}}),
                         rule(true, {{localnet}, {allowed}}), rule(false, {{all}})});
    access_ = std::make_shared<AccessList>(std::move(list));
    policy_.id = "all";
    policy_.access = access_;
    policy_.ports.clear();  // not looked at
  }
  Decision decide(std::string_view target, const std::vector<Address>* addresses = nullptr) {
    Query query;
    query.agent = &policy_;
    query.authority = split_authority(target);
    query.source = address("10.0.0.7");
    query.method = "CONNECT";
    query.addresses = addresses;
    return acl::decide(query);
  }
  AgentPolicy policy_;
  std::shared_ptr<AccessList> access_;
};

TEST_F(AccessListDecide, DialsNothingBeforeTheAddressesAreJudged) {
  const Decision first = decide("www.example.com:443");
  EXPECT_TRUE(first.passes());
  EXPECT_TRUE(first.awaits_addresses);
  EXPECT_FALSE(may_dial(policy_, first, address("8.8.8.8"), {}));
  const std::vector<Address> good{address("8.8.8.8")},
      bad{address("8.8.8.8"), address("127.0.0.1")};
  const Decision second = decide("www.example.com:443", &good);
  EXPECT_TRUE(second.passes());
  EXPECT_FALSE(second.awaits_addresses);
  EXPECT_TRUE(may_dial(policy_, second, address("8.8.8.8"), {}));
  EXPECT_EQ(second.access_rule->agent, "name");
  EXPECT_EQ(decide("www.example.com:443", &bad).reason, Reason::host_denied);
}

TEST_F(AccessListDecide, KeepsTheStepsBeforeIt) {
  EXPECT_EQ(decide("192.0.2.7:443").reason, Reason::ip_literal);
  EXPECT_EQ(decide("ex ample.com:443").reason, Reason::bad_request);
  EXPECT_EQ(decide("a_b.example.com:443").reason, Reason::bad_request);
  EXPECT_TRUE(decide("my_host.test:443").passes());
  EXPECT_EQ(decide("evil.test:443").reason, Reason::host_denied);
  policy_.mode = Mode::offline;
  EXPECT_EQ(decide("www.example.com:443").reason, Reason::offline);
}

TEST_F(AccessListDecide, LeavesAddressesToTheRulesIfToldSo) {
  access_->literals_pass = true;
  const Decision decision = decide("192.0.2.7:443");
  EXPECT_TRUE(decision.passes());
  EXPECT_FALSE(decision.awaits_addresses);
  EXPECT_FALSE(may_dial(policy_, decision, address("192.0.2.7"), {}));  // still special
  EXPECT_EQ(decide("127.0.0.1:443").reason, Reason::host_denied);
  EXPECT_EQ(decide("0x7f.1:443").reason, Reason::ip_literal);
}

}  // namespace
}  // namespace stile::acl
