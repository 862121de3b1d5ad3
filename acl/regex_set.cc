// RegexSet on RE2; no other file includes RE2.
#include "acl/regex_set.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <atomic>

namespace stile::acl {
namespace {

// A larger expression is a mistake, or an attempt to exhaust memory ("(a{999}){999}").
constexpr std::int64_t max_expression_bytes = std::int64_t{1} << 20;
constexpr std::size_t max_fault_bytes = 120;  // of an error message

std::atomic<std::uint64_t> failure_count{0};

RE2::Options options(std::int64_t max_bytes) {
  RE2::Options options;
  options.set_log_errors(false);  // errors are values here; RE2 would write to stderr
  options.set_encoding(RE2::Options::EncodingLatin1);  // host names are ASCII: smaller programs
  options.set_max_mem(max_bytes);
  return options;
}

enum class Answer : std::uint8_t { no, yes, failed };

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RegexSet::Impl {
  explicit Impl(std::int64_t max_bytes) : set{options(max_bytes), RE2::ANCHOR_BOTH} {}

  // Which regexes match, in the order of the rules.
  Answer ask(std::string_view name, std::vector<int>& numbers) const {
    // First without asking which one: most names match nothing, and that answer needs no
    // allocation.
    const Answer first = run(name, nullptr);
    if (first != Answer::yes) return first;
    if (run(name, &numbers) != Answer::yes) return Answer::failed;
    std::sort(numbers.begin(), numbers.end());
    return Answer::yes;
  }

  Answer run(std::string_view name, std::vector<int>* numbers) const {
    RE2::Set::ErrorInfo info{RE2::Set::kNoError};
    if (set.Match(piece(name), numbers, &info)) return Answer::yes;
    return info.kind == RE2::Set::kNoError ? Answer::no : Answer::failed;
  }

  RE2::Set set;
  std::vector<RuleRef> rules;  // by the number that RE2 assigned
  std::vector<std::shared_ptr<const RuleSet>> owners;
};

RegexSet::RegexSet() = default;
RegexSet::~RegexSet() = default;

std::string RegexSet::fault(std::string_view expression) {
  const RE2 compiled{piece(expression), options(max_expression_bytes)};
  if (compiled.ok()) return {};
  // RE2 repeats the part that it could not parse, which may be the whole expression.
  std::string fault = compiled.error();
  if (fault.size() > max_fault_bytes) fault.replace(max_fault_bytes, std::string::npos, "...");
  return fault;
}

RegexSet::Key RegexSet::key(const std::vector<std::shared_ptr<const RuleSet>>& sets) {
  Key key;
  for (const auto& set : sets) {
    if (!set->regexes().empty()) key.push_back(set.get());
  }
  return key;
}

Result<std::shared_ptr<const RegexSet>> RegexSet::compile(
    const std::vector<std::shared_ptr<const RuleSet>>& sets, std::int64_t max_bytes) {
  auto impl = std::make_unique<Impl>(max_bytes);
  for (const auto& set : sets) {
    if (set->regexes().empty()) continue;
    impl->owners.push_back(set);
    for (const std::uint32_t index : set->regexes()) {
      const RuleRef ref{set.get(), index};
      std::string error;
      if (impl->set.Add(piece(set->name(ref.rule())), &error) < 0) {
        return Error{ref.describe() + ": " + error};
      }
      impl->rules.push_back(ref);
    }
  }
  if (impl->rules.empty()) return std::shared_ptr<const RegexSet>{};
  if (!impl->set.Compile()) {
    return Error{"the " + std::to_string(impl->rules.size()) + " regexes from " +
                 impl->rules.front().place() + " on need more than " + std::to_string(max_bytes) +
                 " bytes together; write names instead"};
  }
  std::shared_ptr<RegexSet> result{new RegexSet};
  result->impl_ = std::move(impl);
  return std::shared_ptr<const RegexSet>{std::move(result)};
}

std::shared_ptr<const RegexSet> RegexSet::that_cannot_run() {
  return std::shared_ptr<const RegexSet>{new RegexSet};
}

RegexSet::Match RegexSet::match(std::string_view name) const {
  Match match;
  std::vector<int> numbers;
  const Answer answer = impl_ ? impl_->ask(name, numbers) : Answer::failed;
  for (const int number : numbers) {
    match.rules.push_back(impl_->rules[static_cast<std::size_t>(number)]);
  }
  match.failed = answer == Answer::failed;
  if (match.failed) failure_count.fetch_add(1, std::memory_order_relaxed);
  return match;
}

std::uint64_t RegexSet::failures() noexcept {
  return failure_count.load(std::memory_order_relaxed);
}

}  // namespace stile::acl
