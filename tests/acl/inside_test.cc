// Steps 11 and 12: requests in opened tunnels, judged by tables.
#include "acl/inside.h"

#include <gtest/gtest.h>

#include "acl/overrides.h"
#include "tests/acl/policies.h"

namespace stile::acl {
namespace {

using test::agent;

constexpr std::string_view placeholder = "sk-placeholder-1";

std::vector<PathPattern> paths(const std::vector<std::string>& texts) {
  std::vector<PathPattern> made;
  for (const auto& text : texts) made.push_back(*PathPattern::parse(text));
  return made;
}

std::shared_ptr<Secret> secret(std::string name, std::string header) {
  auto made = std::make_shared<Secret>();
  made->name = std::move(name);
  made->header = std::move(header);
  made->value = std::make_shared<SecretValue>();
  made->value->set("the-real-value", 1);
  return made;
}

// a.com with two entries; .b.com:8443 with one; key.com and *.key.com with a secret.
AgentPolicy policy() {
  AgentPolicy made = agent({"a.com", "key.com", "*.key.com", "c.com", "tcp://a.com:22"});
  made.ports = {443, 8443, 22};
  made.strip_request_headers = {"authorization", "x-api-key"};
  auto inside = std::make_shared<Inside>();
  inside->request_hosts = test::rule_set({"a.com", ".b.com:8443"}, "requests");
  inside->requests_of_host = {{0, 1}, {2}};
  inside->requests.resize(3);
  inside->requests[0].methods = {"GET", "HEAD"};
  inside->requests[0].paths = paths({"/repos/**"});
  inside->requests[1].methods = {"POST"};
  inside->requests[1].paths = paths({"/graphql"});
  inside->requests[1].max_body = 100;
  inside->requests[2].websocket = true;
  inside->secret_hosts = test::rule_set({"key.com", "*.key.com"}, "secrets");
  inside->secrets_of_host = {{0}, {0}};
  inside->secrets.push_back({secret("api", "X-Api-Key"), std::string{placeholder}});
  made.allow.sets.push_back(inside->request_hosts);
  made.inside = inside;
  return made;
}

struct Ask {
  std::string_view authority, method, target;
  std::vector<RequestField> fields{};
  std::optional<std::uint64_t> body{};
  bool websocket = false;
  bool names_tunnel = true;
};

Decision judged(const AgentPolicy& agent, const Ask& ask, Scheme scheme = Scheme::tunnel) {
  RequestFacts facts;
  facts.names_tunnel = ask.names_tunnel;
  facts.method = ask.method;
  facts.target = ask.target;
  facts.path = ask.target.substr(0, ask.target.find('?'));
  facts.body_bytes = ask.body;
  facts.wants_websocket = ask.websocket;
  facts.fields = &ask.fields;
  const std::size_t mark = ask.target.find('?');
  if (mark != std::string_view::npos) facts.query = ask.target.substr(mark + 1);
  const Overrides overrides = overrides_in(ask.fields, facts.query);
  facts.other_method = overrides.method;
  facts.names_other_path = overrides.has_path;
  Query query = test::query(agent, ask.authority, scheme);
  query.inside = &facts;
  return decide(query);
}

TEST(Opened, AreExactlyTheHostsThatNeedIt) {
  const AgentPolicy made = policy();
  const struct {
    std::string_view authority;
    bool is_opened;
  } cases[] = {
      {"a.com:443", true},     {"a.com:8443", true},   {"a.com:22", false},  // tcp://
      {"b.com:8443", true},    {"x.b.com:8443", true}, {"key.com:443", true},
      {"x.key.com:443", true}, {"c.com:443", false},
  };
  for (const auto& [authority, is_opened] : cases) {
    const Decision decision = test::ask(made, authority);
    EXPECT_TRUE(decision.passes()) << authority;
    EXPECT_EQ(decision.is_opened, is_opened) << authority;
  }
  EXPECT_FALSE(test::ask(made, "b.com:443").passes());  // its entry carries another port
}

TEST(DecideInside, RefusesWhatNoEntryAllows) {
  const struct {
    Ask ask;
    std::string_view enforced, observed;
  } cases[] = {
      {{"a.com:443", "GET", "/repos/x?y=../z"}, "allow", "allow"},
      {{"a.com:443", "HEAD", "/repos/x"}, "allow", "allow"},
      {{"a.com:443", "POST", "/graphql", {}, 100}, "allow", "allow"},
      {{"a.com:443", "POST", "/graphql", {}, 101}, "deny body-too-large", "deny body-too-large"},
      {{"a.com:443", "PUT", "/repos/x"},
       "deny method-not-allowed",
       "would-deny method-not-allowed"},
      {{"a.com:443", "get", "/repos/x"},
       "deny method-not-allowed",
       "would-deny method-not-allowed"},
      {{"a.com:443", "GET", "/graphql"}, "deny path-not-allowed", "would-deny path-not-allowed"},
      {{"a.com:443", "GET", "/repos/../x"}, "deny bad-request", "deny bad-request"},
      {{"a.com:443", "GET", "/repos/x", {}, {}, true},
       "deny upgrade-not-allowed",
       "deny upgrade-not-allowed"},
      {{"a.com:443", "GET", "/repos/x", {}, {}, false, false},
       "deny host-mismatch",
       "deny host-mismatch"},
      {{"b.com:8443", "DELETE", "/a/../b", {}, {}, true}, "allow", "allow"},  // no path rules
      {{"key.com:443", "DELETE", "//x"}, "allow", "allow"},
      {{"key.com:443", "GET", "/", {}, {}, true},
       "deny upgrade-not-allowed",
       "deny upgrade-not-allowed"},
      // An earlier step comes first, and a host that is no longer opened is cut.
      {{"d.com:443", "GET", "/"}, "deny host-not-allowed", "deny revoked"},
      {{"c.com:443", "GET", "/"}, "deny revoked", "deny revoked"},
  };
  AgentPolicy made = policy();
  for (const auto& [ask, enforced, observed] : cases) {
    made.mode = Mode::enforce;
    EXPECT_EQ(test::outcome(judged(made, ask)), enforced) << ask.method << ' ' << ask.target;
    made.mode = Mode::observe;
    EXPECT_EQ(test::outcome(judged(made, ask)), observed) << ask.method << ' ' << ask.target;
  }
}

TEST(DecideInside, HoldsForPlainHttpWithoutSecrets) {
  AgentPolicy made = policy();
  made.http_ports = {80};
  EXPECT_EQ(test::outcome(judged(made, {"a.com:80", "GET", "/repos/x"}, Scheme::http)), "allow");
  EXPECT_EQ(test::outcome(judged(made, {"a.com:80", "GET", "/x"}, Scheme::http)),
            "deny path-not-allowed");
  const Decision plain = judged(made, {"key.com:80", "GET", "/"}, Scheme::http);
  EXPECT_TRUE(plain.passes());
  EXPECT_TRUE(plain.terms.secrets.empty());
}

TEST(DecideInside, SetsASecretOnlyOnAllowedRequestsToItsHostsAndPaths) {
  AgentPolicy made = policy();
  EXPECT_EQ(judged(made, {"key.com:443", "GET", "/x"}).terms.secrets.size(), 1U);
  EXPECT_EQ(judged(made, {"y.key.com:443", "GET", "/x"}).terms.secrets.size(), 1U);
  EXPECT_TRUE(judged(made, {"a.com:443", "GET", "/repos/x"}).terms.secrets.empty());
  auto narrow = std::make_shared<Inside>(*made.inside);
  auto limited = secret("api", "X-Api-Key");
  limited->paths = paths({"/v1/*"});
  narrow->secrets = {{limited, std::string{placeholder}}};
  made.inside = narrow;
  EXPECT_EQ(judged(made, {"key.com:443", "GET", "/v1/x"}).terms.secrets.size(), 1U);
  const Decision elsewhere = judged(made, {"key.com:443", "GET", "/v2/x"});
  EXPECT_TRUE(elsewhere.passes() && elsewhere.terms.secrets.empty());
  EXPECT_EQ(elsewhere.terms.of_host.size(), 1U);  // still its host: other credentials are dropped
  EXPECT_EQ(test::outcome(judged(made, {"key.com:443", "GET", "/v1/../v2"})), "deny bad-request");
  made.mode = Mode::observe;
  auto entry = std::make_shared<Inside>(*narrow);
  entry->request_hosts = test::rule_set({"key.com"}, "requests");
  entry->requests_of_host = {{0}};
  made.inside = entry;
  const Decision observed = judged(made, {"key.com:443", "DELETE", "/v1/x"});
  EXPECT_EQ(test::outcome(observed), "would-deny method-not-allowed");
  EXPECT_TRUE(observed.terms.secrets.empty());
}

TEST(DecideInside, RefusesWhatIsBeyondTheBudgetOfItsHost) {
  AgentPolicy made = policy();
  const auto usage = std::make_shared<HostUsage>();
  made.budgets.push_back({"a.com", 1, {}, {}, usage});
  const Ask ask{"a.com:443", "GET", "/repos/x"};
  const Decision fine = judged(made, ask);
  EXPECT_EQ(test::outcome(fine), "allow");
  EXPECT_EQ(fine.budget, &made.budgets[0]);
  const UnixMicros now = test::query(made, "a.com:443").now;
  ASSERT_TRUE(usage->minute.take(now, 1));
  for (const Mode mode : {Mode::enforce, Mode::observe}) {
    made.mode = mode;
    const Decision spent = judged(made, ask);
    EXPECT_EQ(test::outcome(spent), "deny budget-exhausted");
    EXPECT_EQ(spent.fault, minute_fault);
    EXPECT_GT(spent.retry_after_seconds, 0);
    EXPECT_FALSE(spent.may_ask);
    EXPECT_TRUE(test::ask(made, "a.com:443").passes()) << "the tunnel itself is not counted";
    EXPECT_TRUE(judged(made, {"key.com:443", "GET", "/"}).passes()) << "another host";
  }
  // A request that was counted is not refused by its own count when it is judged again.
  RequestFacts facts;
  facts.names_tunnel = true;
  facts.method = "GET";
  facts.path = facts.target = "/repos/x";
  Query query = test::query(made, "a.com:443");
  query.inside = &facts;
  query.counted = usage.get();
  EXPECT_TRUE(decide(query).passes());
}

TEST(DecideInside, ABudgetLeavesNoPortOfItsHostSealed) {
  AgentPolicy made = policy();
  made.allow.sets.push_back(test::rule_set({"b.com"}, "allow"));
  EXPECT_FALSE(test::ask(made, "b.com:443").is_opened);
  made.budgets.push_back({"b.com", {}, 1, {}, std::make_shared<HostUsage>()});
  EXPECT_TRUE(test::ask(made, "b.com:443").is_opened);
}

TEST(DecideInside, RefusesAWebSocketWhoseTokensCannotBeCounted) {
  AgentPolicy made = policy();
  made.budgets.push_back({"b.com", {}, 5, {}, std::make_shared<HostUsage>()});
  const Ask ask{"b.com:8443", "GET", "/", {}, {}, true};
  EXPECT_EQ(test::outcome(judged(made, ask)), "allow");
  made.budgets[0].tokens = 5;
  made.budgets[0].usage->tokens.set(5);
  EXPECT_EQ(test::outcome(judged(made, ask)), "deny upgrade-not-allowed");
}

TEST(DecideInside, RefusesABatchWhoseTokensCannotBeCounted) {
  AgentPolicy made = policy();
  made.budgets.push_back({"b.com", {}, 5, {}, std::make_shared<HostUsage>()});
  const Ask batch{"b.com:8443", "POST", "/v1/messages/batches"};
  EXPECT_EQ(test::outcome(judged(made, batch)), "allow");
  made.budgets[0].tokens = 5;
  made.budgets[0].usage->tokens.set(5);
  for (const Mode mode : {Mode::enforce, Mode::observe}) {
    made.mode = mode;
    const Decision refused = judged(made, batch);
    EXPECT_EQ(test::outcome(refused), "deny path-not-allowed");
    EXPECT_NE(refused.fault.find("batch"), std::string_view::npos);
    EXPECT_FALSE(refused.may_ask);
  }
  made.mode = Mode::enforce;
  EXPECT_EQ(test::outcome(judged(made, {"b.com:8443", "GET", "/v1/messages/batches"})), "allow");
  EXPECT_EQ(
      test::outcome(judged(
          made,
          {"b.com:8443", "GET", "/v1/messages/batches", {{"X-HTTP-Method-Override", "POST"}}})),
      "deny path-not-allowed");
  EXPECT_EQ(test::outcome(judged(made, {"b.com:8443", "POST", "/v1/x/../batches"})),
            "deny bad-request");
  EXPECT_EQ(test::outcome(judged(made, {"b.com:8443", "POST", "/v1/messages"})), "allow");
}

// Google's servers and many frameworks carry out the method that the field names.
TEST(DecideInside, AFieldCannotNameAMethodThatIsNotAllowed) {
  const AgentPolicy made = policy();
  const struct {
    std::vector<RequestField> fields;
    std::string_view outcome;
  } cases[] = {
      {{}, "allow"},
      {{{"X-HTTP-Method-Override", "DELETE"}}, "deny method-not-allowed"},
      {{{"x-http-method", "delete"}}, "deny method-not-allowed"},
      {{{"X_Method_Override", "DELETE"}}, "deny method-not-allowed"},
      {{{"X-HTTP-Method-Override", "GET"}, {"X-HTTP-Method", "DELETE"}}, "deny method-not-allowed"},
      {{{"X-HTTP-Method-Override", "get"}}, "allow"},
      {{{"X-HTTP-Method-Overrides", "DELETE"}}, "allow"},
  };
  for (const auto& one : cases) {
    const Decision decision = judged(made, {"a.com:443", "GET", "/repos/x", one.fields});
    EXPECT_EQ(test::outcome(decision), one.outcome)
        << (one.fields.empty() ? "" : one.fields[0].name);
  }
}

// Symfony and Laravel carry out the method that the parameter names.
TEST(DecideInside, AParameterCannotNameAMethodThatIsNotAllowed) {
  const AgentPolicy made = policy();
  const struct {
    std::string_view query, outcome;
  } cases[] = {
      {"a=1&_method=DELETE", "deny method-not-allowed"},
      {"_method=delete", "deny method-not-allowed"},
      {"%5fMethod=%44ELETE", "deny method-not-allowed"},
      {".method=DELETE", "deny method-not-allowed"},
      {"a;+method=DELETE", "deny method-not-allowed"},
      {"_method=GET&_method=DELETE", "deny method-not-allowed"},
      {"_method&_method=DELETE", "deny method-not-allowed"},
      {"_method", "allow"},
      {"_method=get", "allow"},
      {"a=_method=DELETE", "allow"},
      {"_methods=DELETE&method=DELETE&x_method=DELETE", "allow"},
      {"&;&=&%&%5&%5f", "allow"},
  };
  for (const auto& [query, outcome] : cases) {
    const std::string target = "/repos/x?" + std::string{query};
    EXPECT_EQ(test::outcome(judged(made, {"a.com:443", "GET", target})), outcome) << query;
  }
}

// Old versions of Symfony and Zend, and IIS with URL Rewrite, serve the path that the field names.
TEST(DecideInside, AFieldCannotNameAnotherPath) {
  AgentPolicy made = policy();
  for (const std::string_view name : {"X-Original-URL", "x-rewrite-url", "X_Original_URL"}) {
    const std::vector<RequestField> fields{{name, "/admin"}};
    EXPECT_EQ(test::outcome(judged(made, {"a.com:443", "GET", "/repos/x", fields})),
              "deny bad-request")
        << name;
    EXPECT_EQ(test::outcome(judged(made, {"b.com:8443", "GET", "/x", fields})), "allow") << name;
  }
  EXPECT_EQ(test::outcome(judged(made, {"a.com:443", "GET", "/repos/x", {{"X-Original", "/"}}})),
            "allow");
}

TEST(DecideInside, RefusesMisplacedPlaceholders) {
  const AgentPolicy made = policy();
  const std::string embedded = "Bearer " + std::string{placeholder};
  const struct {
    Ask ask;
    std::string_view outcome;
  } cases[] = {
      {{"key.com:443", "GET", "/", {{"X-Api-Key", placeholder}}}, "allow"},
      {{"key.com:443", "GET", "/", {{"x-api-key", embedded}}}, "allow"},
      {{"key.com:443", "GET", "/", {{"Authorization", embedded}}}, "deny placeholder-misplaced"},
      {{"key.com:443", "GET", "/?k=sk-placeholder-1"}, "deny placeholder-misplaced"},
      {{"key.com:443", "GET", "/sk-placeholder-1"}, "deny placeholder-misplaced"},
      {{"a.com:443", "GET", "/repos/x", {{"X-Api-Key", placeholder}}},
       "deny placeholder-misplaced"},
  };
  for (const auto& [ask, outcome] : cases) {
    EXPECT_EQ(test::outcome(judged(made, ask)), outcome) << ask.target;
  }
}

TEST(DecideInside, RefusesOwnCredentialsWhereTheSecretSaysSo) {
  AgentPolicy made = policy();
  auto inside = std::make_shared<Inside>(*made.inside);
  auto strict = secret("api", "X-Api-Key");
  strict->refuses_own = true;
  inside->secrets = {{strict, std::string{placeholder}}};
  made.inside = inside;
  const struct {
    RequestField field;
    std::string_view outcome;
  } cases[] = {
      {{"X-Api-Key", placeholder}, "allow"},
      {{"X-Api-Key", "mine"}, "deny credential-refused"},
      {{"authorization", "Bearer mine"}, "deny credential-refused"},
      {{"X-Other", "mine"}, "allow"},
  };
  for (const auto& [field, outcome] : cases) {
    EXPECT_EQ(test::outcome(judged(made, {"key.com:443", "GET", "/", {field}})), outcome)
        << field.name;
  }
}

TEST(Secret, MakesItsHeaderAndAPlaceholderOfTheRightShape) {
  Secret one = *secret("one", "Authorization");
  EXPECT_EQ(one.header_value("v"), "v");
  one.format = "Bearer {}";
  EXPECT_EQ(one.header_value("v"), "Bearer v");
  one.basic_user = "user";
  EXPECT_EQ(one.header_value("pass"), "Basic dXNlcjpwYXNz");
  const struct {
    std::string_view host, start;
    std::size_t size;
  } cases[] = {
      {"api.anthropic.com", "sk-ant-api03-", 108},
      {"github.com", "ghp_", 40},
      {"*.openai.com", "sk-proj-", 56},
      {"evil-github.com", "stile-placeholder-", 50},
  };
  for (const auto& [host, start, size] : cases) {
    one.hosts = {*Pattern::parse(host)};
    const std::string text = placeholder_of("alpha", one);
    EXPECT_TRUE(text.starts_with(start)) << text;
    EXPECT_EQ(text.size(), size);
    EXPECT_EQ(text, placeholder_of("alpha", one));
    EXPECT_NE(text, placeholder_of("beta", one));
  }
  one.placeholder = "given-by-config";
  EXPECT_EQ(placeholder_of("alpha", one), "given-by-config");
}

}  // namespace
}  // namespace stile::acl
