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

std::shared_ptr<const acl::RuleSet> build(const std::vector<std::string>& patterns) {
  acl::RuleSet::Builder builder{"bench"};
  std::uint32_t line = 0;
  for (const auto& pattern : patterns) {
    if (!builder.add_text(pattern, ++line)) std::abort();
  }
  return std::move(builder).build();
}

// The requests one behind the other in memory, in the order in which they are asked: a request is
// in the cache when it is decided, so reading it must not cost a miss here.
class Requests {
 public:
  Requests() = default;
  explicit Requests(const std::vector<std::string>& hosts) {
    for (const auto& host : hosts) text_.insert(text_.end(), host.begin(), host.end());
    const char* at = text_.data();
    for (const auto& host : hosts) {
      authorities_.push_back({{at, host.size()}, "443", true});
      at += host.size();
    }
  }
  const acl::Authority& next() {
    if (++at_ >= authorities_.size()) at_ = 0;
    return authorities_[at_];
  }

 private:
  std::vector<char> text_;
  std::vector<acl::Authority> authorities_;
  std::size_t at_ = 0;
};

struct Policy {
  acl::AgentPolicy plain, with_regexes;
  Requests hot, all;                       // that are allowed
  Requests hot_strangers, many_strangers;  // that are not
};

std::vector<std::string> first(std::size_t count, std::vector<std::string> names) {
  names.resize(std::min(count, names.size()));
  return names;
}

// Made once for each size; a million rules take a while.
Policy& policy(const benchmark::State& state) {
  static std::map<std::size_t, Policy> made;
  const auto rules = static_cast<std::size_t>(state.range(0));
  const auto [it, is_new] = made.try_emplace(rules);
  Policy& policy = it->second;
  if (!is_new) return policy;

  std::vector<std::string> names = make_names(rules, rule_seed);
  policy.plain.allow.sets.push_back(build(names));
  std::shuffle(names.begin(), names.end(), std::mt19937{order_seed});
  policy.hot = Requests{first(hot_names, names)};
  policy.all = Requests{names};
  const std::vector<std::string> strangers = make_names(std::max(rules, hot_names), stranger_seed);
  policy.hot_strangers = Requests{first(hot_names, strangers)};
  policy.many_strangers = Requests{strangers};

  std::vector<std::string> regexes;
  for (int i = 0; i < 10; ++i) {
    regexes.push_back("~^(api|cdn)-[0-9]+\\.service" + std::to_string(i) + "\\.example\\.com$");
  }
  policy.with_regexes = policy.plain;
  policy.with_regexes.allow.sets.push_back(build(regexes));
  policy.with_regexes.allow.regexes = *acl::RegexSet::compile(policy.with_regexes.allow.sets);
  return policy;
}

void run(benchmark::State& state, const acl::AgentPolicy& agent, Requests& requests,
         acl::Verdict expected) {
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

void hit_hot(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.plain, p.hot, acl::Verdict::allow);
  const acl::RuleSet& set = *p.plain.allow.sets.front();
  state.counters["bytes_per_rule"] =
      static_cast<double>(set.memory_bytes() - set.name_bytes()) / static_cast<double>(set.size());
}

void hit_uniform(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.plain, p.all, acl::Verdict::allow);
}

void miss_hot(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.plain, p.hot_strangers, acl::Verdict::deny);
}

void miss_uniform(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.plain, p.many_strangers, acl::Verdict::deny);
}

void hit_hot_beside_regexes(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.with_regexes, p.hot, acl::Verdict::allow);
}

void miss_hot_beside_regexes(benchmark::State& state) {
  Policy& p = policy(state);
  run(state, p.with_regexes, p.hot_strangers, acl::Verdict::deny);
}

// The fastest of several repetitions tells most about the code on a machine that others use too.
double least(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ComputeStatistics("min", least);
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
