// rule_diff: the differences in rules and settings between two policies, agent by agent.
#include "cli/rule_diff.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/joined.h"
#include "base/units.h"
#include "base/unix_time.h"

namespace stile::cli {
namespace {

using Patterns = std::vector<std::string>;

Patterns patterns_of(const acl::Rules& rules) {
  Patterns patterns;
  for (const auto& set : rules.sets) {
    for (std::uint32_t index = 0; index < set->size(); ++index) {
      patterns.push_back(acl::RuleRef{set.get(), index}.pattern());
    }
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

Patterns without(const Patterns& all, const Patterns& taken) {
  Patterns rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

template <class List, class TextOf>
std::string joined_or_none(const List& list, const TextOf& text_of) {
  const auto text = joined_texts(list, text_of);
  return text.empty() ? "none" : text;
}

std::string size_or_none(const std::optional<std::uint64_t>& size) {
  return size ? size_text(*size) : "none";
}

using Facts = std::map<std::string, std::string>;

// Everything but the lists, as text.
Facts facts_of(const acl::AgentPolicy& policy) {
  const auto number = [](auto value) { return std::to_string(value); };
  const auto text_of = [](const auto& value) { return value.text(); };
  const auto exception = [](const acl::PrivateException& item) {
    return item.prefix.text() + (item.hosts ? " for some hosts" : "");
  };
  return {{"mode", std::string{text(policy.mode)}},
          {"source", joined_or_none(policy.sources, text_of)},
          {"ports", joined_or_none(policy.ports, number)},
          {"http_ports", joined_or_none(policy.http_ports, number)},
          {"allow_ip", joined_or_none(policy.allow_ip, text_of)},
          {"private_exceptions", joined_or_none(policy.private_exceptions, exception)},
          {"sni", policy.check_sni ? "match" : "off"},
          {"ech", text(policy.ech)},
          {"expires", policy.expires ? time_text(*policy.expires) : "none"},
          {"bytes_up", size_or_none(policy.bytes_up)},
          {"bytes_down", size_or_none(policy.bytes_down)},
          {"connections_per_agent", number(policy.max_connections)},
          {"requests_per_second", number(policy.requests_per_second)}};
}

AgentDiff compare(const acl::AgentPolicy& before, const acl::AgentPolicy& after) {
  AgentDiff diff;
  const auto old_allow = patterns_of(before.allow), new_allow = patterns_of(after.allow);
  const auto old_deny = patterns_of(before.deny), new_deny = patterns_of(after.deny);
  diff.allow_added = without(new_allow, old_allow);
  diff.allow_removed = without(old_allow, new_allow);
  diff.deny_added = without(new_deny, old_deny);
  diff.deny_removed = without(old_deny, new_deny);
  auto old_facts = facts_of(before);
  for (const auto& [key, value] : facts_of(after)) {
    if (old_facts[key] != value) diff.settings.push_back({key, old_facts[key], value});
  }
  return diff;
}

bool is_empty(const AgentDiff& diff) {
  return diff.allow_added.empty() && diff.allow_removed.empty() && diff.deny_added.empty() &&
         diff.deny_removed.empty() && diff.settings.empty();
}

}  // namespace

std::string_view text(AgentDiff::Kind kind) noexcept {
  switch (kind) {
    case AgentDiff::Kind::added:
      return "added";
    case AgentDiff::Kind::removed:
      return "removed";
    case AgentDiff::Kind::changed:
      break;
  }
  return "changed";
}

std::vector<AgentDiff> compare_rules(const acl::Snapshot& before, const acl::Snapshot& after) {
  std::set<std::string> ids;
  for (const auto* snapshot : {&before, &after}) {
    for (const auto& agent : snapshot->agents()) ids.insert(agent->id);
  }
  std::vector<AgentDiff> diffs;
  for (const auto& id : ids) {
    const auto* old_policy = before.by_id(id);
    const auto* new_policy = after.by_id(id);
    AgentDiff diff;
    if (old_policy == nullptr) {
      diff.kind = AgentDiff::Kind::added;
      diff.allow_added = patterns_of((*new_policy)->allow);
      diff.deny_added = patterns_of((*new_policy)->deny);
    } else if (new_policy == nullptr) {
      diff.kind = AgentDiff::Kind::removed;
    } else {
      diff = compare(**old_policy, **new_policy);
      if (is_empty(diff)) continue;
    }
    diff.agent = id;
    diffs.push_back(std::move(diff));
  }
  return diffs;
}

}  // namespace stile::cli
