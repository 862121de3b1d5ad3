// Warnings about the patterns of one list.
#include "config/lint_rules.h"

#include <string>

#include "acl/public_suffix.h"
#include "base/quoted.h"

namespace stile::config {
namespace {

using Kind = acl::Pattern::Kind;

constexpr std::size_t max_warnings = 10;  // of one kind per list

bool is_tree(Kind kind) { return kind == Kind::suffix || kind == Kind::below || kind == Kind::any; }

Place place_of_rule(const acl::RuleRef& ref) { return {ref.set->source(), ref.rule().line, 0}; }

// Counts warnings of one kind, and drops those beyond the limit.
class Limited {
 public:
  explicit Limited(Diagnostics& warnings) : warnings_{warnings} {}
  void add(const acl::RuleRef& ref, const std::string& problem) {
    if (++count_ <= max_warnings) {
      warnings_.warning(place_of_rule(ref), "", in_quotes(ref.pattern()) + problem);
    }
  }
  void finish(const acl::RuleSet& rules, const std::string& what) {
    if (count_ <= max_warnings) return;
    warnings_.warning({rules.source(), 0, 0}, "",
                      std::to_string(count_ - max_warnings) + " more patterns that " + what);
  }

 private:
  Diagnostics& warnings_;
  std::size_t count_ = 0;
};

}  // namespace

acl::RuleRef find_cover(const acl::RuleRef& ref, const acl::RuleSet& among, ListRole role) {
  const auto& rule = ref.rule();
  acl::RuleRef cover;
  if (rule.kind == Kind::regex || rule.kind == Kind::any) return cover;
  // A pattern that covers one name below, and is not an exact name, covers all names below.
  const std::string name{ref.set->name(rule)};
  const auto probe = acl::parse_host(rule.kind == Kind::below ? "x." + name : name);
  if (probe.kind != acl::HostParse::Kind::name) return cover;
  among.visit(acl::HostKey{probe.host}, [&](const acl::RuleRef& other) {
    const auto& wider = other.rule();
    if (other.set == ref.set && other.index == ref.index) return false;
    const bool reaches_all = role == ListRole::deny && wider.reach == acl::Pattern::Reach::bare;
    const bool reaches_same = wider.reach == rule.reach && wider.port == rule.port;
    if (!reaches_all && !reaches_same) return false;
    if (rule.kind != Kind::exact && !is_tree(wider.kind)) return false;
    cover = other;
    return true;
  });
  return cover;
}

void warn_of_wide_rules(const acl::RuleSet& rules, Diagnostics& warnings) {
  Limited wide{warnings};
  for (std::uint32_t index = 0; index < rules.size(); ++index) {
    const acl::RuleRef ref{&rules, index};
    const auto kind = ref.rule().kind;
    if (kind == Kind::any) {
      wide.add(ref, " allows every name");
    } else if (is_tree(kind) && acl::is_public_suffix(std::string{rules.name(ref.rule())})) {
      wide.add(ref, " allows names that anyone can register");
    }
  }
  wide.finish(rules, "allow names that anyone can register");
}

void warn_of_dead_rules(const acl::RuleSet& rules, ListRole role, Diagnostics& warnings) {
  Limited dead{warnings};
  for (std::uint32_t index = 0; index < rules.size(); ++index) {
    const acl::RuleRef ref{&rules, index};
    const auto cover = find_cover(ref, rules, role);
    // Of two equal patterns only the second is redundant.
    if (!cover || (cover.pattern() == ref.pattern() && cover.index > index)) continue;
    const auto line = cover.rule().line;
    dead.add(ref, " changes nothing: " + in_quotes(cover.pattern()) +
                      (line > 0 ? " in line " + std::to_string(line) : "") + " covers it");
  }
  dead.finish(rules, "change nothing");
}

}  // namespace stile::config
