// AccessList: the first rule that holds decides.
#include "acl/access_list.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

// squid compares these methods case-insensitively, so that `get` cannot bypass a rule for GET. It
// compares all other methods exactly.
constexpr std::array<std::string_view, 8> caseless_methods{"GET",     "POST",  "PUT",     "HEAD",
                                                           "CONNECT", "TRACE", "OPTIONS", "DELETE"};

bool same_method(std::string_view rule, std::string_view asked) noexcept {
  if (rule == asked) return true;
  return equal_ignoring_case(rule, asked) &&
         std::any_of(caseless_methods.begin(), caseless_methods.end(),
                     [&](std::string_view known) { return equal_ignoring_case(known, asked); });
}

bool has_literal(const AccessQuery& query) noexcept {
  return query.key == nullptr && query.addresses != nullptr && !query.addresses->empty();
}

std::string literal_text(const AccessQuery& query) {
  return has_literal(query) ? query.addresses->front().text() : std::string{};
}

// squid compares the unescaped path, so that %73quid… cannot bypass the rule.
bool is_manager_path(std::string_view path) noexcept {
  constexpr std::string_view prefix = "/squid-internal-mgr/";
  std::size_t at = 0;
  for (const char expected : prefix) {
    if (at >= path.size()) return false;
    char c = path[at++];
    if (c == '%' && at + 2 <= path.size()) {
      const int high = hex_value(path[at]), low = hex_value(path[at + 1]);
      if (high >= 0 && low >= 0) {
        c = static_cast<char>(high * 16 + low);
        at += 2;
      }
    }
    if (c != expected) return false;
  }
  return true;
}

}  // namespace

AddressSet::AddressSet(std::vector<Stretch> disjoint) : stretches_{std::move(disjoint)} {
  std::sort(stretches_.begin(), stretches_.end());
}

bool AddressSet::contains(const Address& address) const noexcept {
  auto after = std::upper_bound(stretches_.begin(), stretches_.end(), address,
                                [](const Address& a, const Stretch& s) { return a < s.first; });
  return after != stretches_.begin() && address <= std::prev(after)->second;
}

AccessList::AccessList(std::vector<Condition> conditions, std::vector<AccessRule> rules,
                       AccessRule end)
    : conditions_{std::move(conditions)}, rules_{std::move(rules)}, end_{std::move(end)} {
  end_.allows = !rules_.empty() && !rules_.back().allows;
}

AccessList::Answer AccessList::ask(const Condition& condition, const AccessQuery& query) {
  const auto answer = [](bool holds) { return holds ? Answer::yes : Answer::no; };
  switch (condition.kind) {
    case Condition::Kind::source:
      return answer(condition.addresses.contains(query.source));
    case Condition::Kind::destination:
      if (query.addresses == nullptr) return Answer::unknown;
      return answer(std::any_of(query.addresses->begin(), query.addresses->end(),
                                [&](const Address& a) { return condition.addresses.contains(a); }));
    case Condition::Kind::domain:
      if (query.key == nullptr) {
        // Only the address as written: with a reverse lookup, the owner of the address could choose
        // the name that it is judged by.
        return answer(has_literal(query) && contains(condition.literals, query.addresses->front()));
      }
      return answer(condition.names &&
                    condition.names->visit(*query.key, [](const CoveringRule&) { return true; }));
    case Condition::Kind::domain_regex: {
      if (!condition.regexes) return Answer::no;
      const auto match = condition.regexes->match(
          query.key != nullptr ? std::string{query.key->name()} : literal_text(query));
      return match.failed ? Answer::failed : answer(!match.rules.empty());
    }
    case Condition::Kind::port:
      return answer(
          std::any_of(condition.ports.begin(), condition.ports.end(), [&](const auto& range) {
            return query.port >= range.first && query.port <= range.second;
          }));
    case Condition::Kind::method:
      return answer(std::any_of(condition.methods.begin(), condition.methods.end(),
                                [&](const auto& name) { return same_method(name, query.method); }));
    case Condition::Kind::manager:
      return answer(is_manager_path(query.path));
  }
  return Answer::failed;
}

AccessList::Answer AccessList::ask(const AccessRule& rule, const AccessQuery& query) const {
  Answer all = Answer::yes;
  for (const auto& [index, is_negated] : rule.terms) {
    const Answer answer = ask(conditions_[index], query);
    if (answer == Answer::failed) return Answer::failed;
    if (answer == (is_negated ? Answer::yes : Answer::no)) return Answer::no;
    if (answer == Answer::unknown) all = Answer::unknown;
  }
  return all;
}

AccessList::Outcome AccessList::ask(const AccessQuery& query) const {
  using Kind = Outcome::Kind;
  // Rules that may hold once the addresses are known. If all of them deny, and the first rule that
  // certainly holds denies too, the list denies without a DNS lookup.
  bool may_deny = false, may_allow = false;
  const AccessRule* decides = &end_;
  for (const AccessRule& rule : rules_) {
    const Answer answer = ask(rule, query);
    if (answer == Answer::failed) return {};
    if (answer == Answer::unknown) (rule.allows ? may_allow : may_deny) = true;
    if (answer == Answer::yes) {
      decides = &rule;
      break;
    }
  }
  if (decides->allows ? may_deny : may_allow) return {Kind::unresolved, nullptr};
  return {decides->allows ? Kind::allow : Kind::deny, decides};
}

bool AccessList::names_underscore(const HostKey& key) const {
  return std::any_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    return condition.names && condition.names->visit(key, [](const CoveringRule& rule) {
      return rule.set->name(rule.rule()).find('_') != std::string_view::npos;
    });
  });
}

bool AccessList::has_agent(std::string_view name) const noexcept {
  return name == end_.agent || std::any_of(rules_.begin(), rules_.end(),
                                           [&](const AccessRule& r) { return r.agent == name; });
}

}  // namespace stile::acl
