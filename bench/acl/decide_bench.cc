// Time of one decision, by number of rules: names asked again and again, or each once; allowed or
// not; with or without regexes beside the names.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "acl/decide.h"
#include "bench/acl/names.h"

namespace stile::bench {
namespace {

constexpr unsigned rule_seed = 1, stranger_seed = 2, order_seed = 3;
constexpr std::size_t hot_names = 1000;

struct Policy {
  std::vector<std::string> names;  // that are allowed
  acl::AgentPolicy plain, with_regexes;
};

std::shared_ptr<const acl::RuleSet> build(const std::vector<std::string>& patterns) {
  acl::RuleSet::Builder builder{"bench"};
  std::uint32_t line = 0;
  for (const auto& pattern : patterns) {
    if (!builder.add_text(pattern, ++line)) std::abort();
  }
  return std::move(builder).build();
}

// Made once for each size; a million rules take a while.
const Policy& policy(std::size_t rules) {
  static std::map<std::size_t, Policy> made;
  const auto [it, is_new] = made.try_emplace(rules);
  Policy& policy = it->second;
  if (is_new) {
    policy.names = make_names(rules, rule_seed);
    policy.plain.allow.sets.push_back(build(policy.names));
    policy.with_regexes = policy.plain;
    std::vector<std::string> regexes;
    for (int i = 0; i < 10; ++i) {
      regexes.push_back("~^(api|cdn)-[0-9]+\\.service" + std::to_string(i) + "\\.example\\.com$");
    }
    policy.with_regexes.allow.sets.push_back(build(regexes));
    policy.with_regexes.allow.regexes = *acl::RegexSet::compile(policy.with_regexes.allow.sets);
  }
  return policy;
}

// The requests one behind the other in memory, in the order in which they are asked: a request is
// in the cache when it is decided, so reading it must not cost a miss here.
class Requests {
 public:
  explicit Requests(const std::vector<std::string>& hosts) {
    for (const auto& host : hosts) text_ += host;
    std::size_t at = 0;
    for (const auto& host : hosts) {
      authorities_.push_back({std::string_view{text_}.substr(at, host.size()), "443", true});
      at += host.size();
    }
  }
  const acl::Authority& next() {
    if (++at_ >= authorities_.size()) at_ = 0;
    return authorities_[at_];
  }

 private:
  std::string text_;
  std::vector<acl::Authority> authorities_;
  std::size_t at_ = 0;
};

void run(benchmark::State& state, const acl::AgentPolicy& agent,
         const std::vector<std::string>& hosts, acl::Verdict expected) {
  Requests requests{hosts};
  acl::Query query;
  query.agent = &agent;
  std::size_t others = 0;
  for (auto _ : state) {
    query.authority = requests.next();
    const acl::Decision decision = acl::decide(query);
    others += decision.verdict == expected ? 0 : 1;
  }
  if (others != 0) state.SkipWithError("a verdict is wrong");
}

std::vector<std::string> shuffled(std::vector<std::string> names, std::size_t count) {
  std::shuffle(names.begin(), names.end(), std::mt19937{order_seed});
  names.resize(std::min(count, names.size()));
  return names;
}

std::size_t rules_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

void hit_hot(benchmark::State& state) {
  const Policy& p = policy(rules_of(state));
  run(state, p.plain, shuffled(p.names, hot_names), acl::Verdict::allow);
  const acl::RuleSet& set = *p.plain.allow.sets.front();
  state.counters["bytes_per_rule"] =
      static_cast<double>(set.memory_bytes() - set.name_bytes()) / static_cast<double>(set.size());
}

void hit_uniform(benchmark::State& state) {
  const Policy& p = policy(rules_of(state));
  run(state, p.plain, shuffled(p.names, p.names.size()), acl::Verdict::allow);
}

void miss_hot(benchmark::State& state) {
  run(state, policy(rules_of(state)).plain, make_names(hot_names, stranger_seed),
      acl::Verdict::deny);
}

void miss_uniform(benchmark::State& state) {
  const std::size_t count = rules_of(state);
  run(state, policy(count).plain, make_names(count, stranger_seed), acl::Verdict::deny);
}

void hit_hot_beside_regexes(benchmark::State& state) {
  const Policy& p = policy(rules_of(state));
  run(state, p.with_regexes, shuffled(p.names, hot_names), acl::Verdict::allow);
}

void miss_hot_beside_regexes(benchmark::State& state) {
  run(state, policy(rules_of(state)).with_regexes, make_names(hot_names, stranger_seed),
      acl::Verdict::deny);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("rules")->Arg(10)->Arg(1000)->Arg(100000)->Arg(1000000);
}

BENCHMARK(hit_hot)->Apply(sizes);
BENCHMARK(hit_uniform)->Apply(sizes);
BENCHMARK(miss_hot)->Apply(sizes);
BENCHMARK(miss_uniform)->Apply(sizes);
BENCHMARK(hit_hot_beside_regexes)->Apply(sizes);
BENCHMARK(miss_hot_beside_regexes)->Apply(sizes);

}  // namespace
}  // namespace stile::bench
