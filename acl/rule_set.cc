// Builds rule sets.
#include "acl/rule_set.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "base/decimal.h"

namespace stile::acl {
namespace {

// Whether a rule is looked up by its name.
bool has_name(Pattern::Kind kind) noexcept {
  return kind != Pattern::Kind::regex && kind != Pattern::Kind::any;
}

}  // namespace

std::string RuleRef::pattern() const {
  return pattern_text(rule().kind, rule().reach, rule().port, set->name(rule()));
}

std::string RuleRef::place() const {
  if (rule().line == 0) return set->source();
  return set->source() + ':' + std::to_string(rule().line);
}

// Two lines of each request have it, so it allocates once.
std::string RuleRef::describe() const {
  const std::string shown = pattern();  // most are short
  std::string text;
  text.reserve(shown.size() + set->source().size() + sizeof " (:4294967295)");
  text.append(shown).append(" (").append(set->source());
  if (rule().line != 0) {
    text += ':';
    append_decimal(text, rule().line);
  }
  return text += ')';
}

RuleSet::Builder::Builder(std::string source) : set_{std::make_unique<RuleSet>()} {
  set_->source_ = std::move(source);
}

void RuleSet::Builder::reserve(std::size_t rules, std::size_t name_bytes) {
  set_->rules_.reserve(rules);
  names_.reserve(name_bytes);
}

void RuleSet::Builder::add(const Pattern& pattern, std::uint32_t line) {
  append(pattern.kind, pattern.reach, pattern.port, pattern.name, line);
}

Result<void> RuleSet::Builder::add_text(std::string_view text, std::uint32_t line) {
  const auto view = Pattern::parse_view(text);
  if (!view) return view.error();
  append(view->kind, view->reach, view->port, view->name(), line);
  return {};
}

void RuleSet::Builder::append(Pattern::Kind kind, Pattern::Reach reach, std::uint16_t port,
                              std::string_view name, std::uint32_t line) {
  // A dropped rule could be a deny rule, and an offset that overflows gives a rule another name.
  constexpr std::size_t max_offset = std::numeric_limits<std::uint32_t>::max();
  const std::size_t max_length = has_name(kind) ? Host::max_length : Pattern::max_regex_length;
  if (name.size() > max_length || names_.size() + name.size() > max_offset) {
    throw std::length_error{"RuleSet: a name or a list that is too long"};
  }
  set_->rules_.push_back({static_cast<std::uint32_t>(names_.size()), line, 0,
                          static_cast<std::uint16_t>(name.size()), port, kind, reach});
  names_ += name;
}

std::shared_ptr<const RuleSet> RuleSet::Builder::build() && {
  set_->rules_.shrink_to_fit();
  set_->index_rules(names_);
  return std::move(set_);
}

void RuleSet::index_rules(const std::string& names) {
  const auto name_of = [&](const Rule& rule) {
    return std::string_view{names}.substr(rule.name_offset, rule.name_length);
  };
  name_bytes_ = names.size();
  std::size_t space = 0;
  for (const Rule& rule : rules_) {
    if (has_name(rule.kind)) space += NameTable::space_for(rule.name_length);
  }
  table_.reserve(space);

  // The table of a large list is far larger than the cache. Hashing a few rules ahead lets their
  // buckets be fetched together.
  constexpr std::size_t batch = 16;
  std::array<std::uint32_t, batch> hashes{};
  for (std::size_t start = 0; start < rules_.size(); start += batch) {
    const std::size_t count = std::min(batch, rules_.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      const Rule& rule = rules_[start + i];
      if (!has_name(rule.kind)) continue;
      hashes[i] = hash_name(name_of(rule));
      table_.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      link(static_cast<std::uint32_t>(start + i), hashes[i], name_of(rules_[start + i]));
    }
  }
}

void RuleSet::link(std::uint32_t index, std::uint32_t hash, std::string_view text) {
  Rule& added = rules_[index];
  if (added.kind == Pattern::Kind::any) {
    if (any_ == 0) any_ = index + 1;
    added.name_offset = 0;  // it has no name: the old offset is not one of the table
    return;
  }
  if (added.kind == Pattern::Kind::regex) {
    regexes_.push_back(index);
    added.name_offset = static_cast<std::uint32_t>(expressions_.size());
    expressions_ += text;
    return;
  }
  const auto depth = static_cast<std::size_t>(std::count(text.begin(), text.end(), '.')) + 1;
  (added.kind == Pattern::Kind::exact ? exact_depths_ : tree_depths_).set(depth);

  NameTable::Entry entry = table_.find(hash, text);
  if (entry.rule == 0) {
    entry.rule = index + 1;
    entry.port = added.port;
    entry.kind = added.kind;
    entry.reach = added.reach;
  } else {
    chain(entry.rule, index);
    entry.has_more = rules_[entry.rule - 1].next != 0;
  }
  added.name_offset = table_.put(hash, text, entry);
}

// Links the rule after the last one with that name. Duplicate patterns are not chained: a list that
// repeats one line would make every lookup slow.
void RuleSet::chain(std::uint32_t first, std::uint32_t index) {
  const Rule& added = rules_[index];
  for (std::uint32_t at = first;; at = rules_[at - 1].next) {
    Rule& present = rules_[at - 1];
    if (present.kind == added.kind && present.reach == added.reach && present.port == added.port) {
      return;
    }
    if (present.next == 0) {
      present.next = index + 1;
      return;
    }
  }
}

std::size_t RuleSet::memory_bytes() const noexcept {
  return sizeof(*this) + source_.capacity() + rules_.capacity() * sizeof(Rule) +
         table_.memory_bytes() + expressions_.capacity() +
         regexes_.capacity() * sizeof(std::uint32_t);
}

}  // namespace stile::acl
