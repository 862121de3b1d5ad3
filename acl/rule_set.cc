// Building of rule sets.
#include "acl/rule_set.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace stile::acl {
namespace {

// Whether a rule is found by its name.
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

std::string RuleRef::describe() const { return pattern() + " (" + place() + ')'; }

RuleSet::Builder::Builder(std::string source) : set_{std::make_unique<RuleSet>()} {
  set_->source_ = std::move(source);
}

void RuleSet::Builder::reserve(std::size_t rules, std::size_t name_bytes) {
  set_->rules_.reserve(rules);
  set_->names_.reserve(name_bytes);
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
  // A rule that is left out could be a deny rule, and an offset that wraps gives it another name.
  constexpr std::size_t max_offset = std::numeric_limits<std::uint32_t>::max();
  const std::size_t max_length = has_name(kind) ? Host::max_length : Pattern::max_regex_length;
  if (name.size() > max_length || set_->names_.size() + name.size() > max_offset) {
    throw std::length_error{"RuleSet: a name or a list that is too long"};
  }
  set_->rules_.push_back({static_cast<std::uint32_t>(set_->names_.size()), line, 0,
                          static_cast<std::uint16_t>(name.size()), port, kind, reach});
  set_->names_ += name;
}

std::shared_ptr<const RuleSet> RuleSet::Builder::build() && {
  set_->rules_.shrink_to_fit();
  set_->names_.shrink_to_fit();
  set_->index_rules();
  return std::move(set_);
}

void RuleSet::index_rules() {
  slots_.resize(2 * rules_.size() + 1);
  // The table of a large list is far larger than the cache: with the hashes of a few rules made
  // ahead, their slots are fetched together.
  constexpr std::size_t batch = 16;
  std::array<std::uint32_t, batch> hashes{};
  for (std::size_t start = 0; start < rules_.size(); start += batch) {
    const std::size_t count = std::min(batch, rules_.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      const Rule& rule = rules_[start + i];
      hashes[i] = has_name(rule.kind) ? hash_name(name(rule)) : 0;
      __builtin_prefetch(&slots_[home(hashes[i])], 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
      link(static_cast<std::uint32_t>(start + i), hashes[i]);
    }
  }
}

void RuleSet::link(std::uint32_t index, std::uint32_t hash) {
  Rule& added = rules_[index];
  if (added.kind == Pattern::Kind::regex) {
    regexes_.push_back(index);
    return;
  }
  if (added.kind == Pattern::Kind::any) {
    if (any_ == 0) any_ = index + 1;
    return;
  }
  const std::string_view text = name(added);
  const auto depth = static_cast<std::size_t>(std::count(text.begin(), text.end(), '.')) + 1;
  (added.kind == Pattern::Kind::exact ? exact_depths_ : tree_depths_).set(depth);

  Slot& slot = slots_[find(hash, text)];
  if (slot.rule == 0) {
    slot = {index + 1,
            added.name_offset,
            tag(hash),
            added.port,
            static_cast<std::uint8_t>(text.size()),
            added.kind,
            added.reach,
            false};
    return;
  }
  // The same pattern once more says nothing new; chained, a list of one repeated line would make
  // every look-up long.
  for (std::uint32_t at = slot.rule;;) {
    Rule& present = rules_[at - 1];
    if (present.kind == added.kind && present.reach == added.reach && present.port == added.port) {
      return;
    }
    if (present.next == 0) {
      present.next = index + 1;
      slot.has_more = true;
      return;
    }
    at = present.next;
  }
}

std::size_t RuleSet::memory_bytes() const noexcept {
  return sizeof(*this) + source_.capacity() + names_.capacity() + rules_.capacity() * sizeof(Rule) +
         slots_.capacity() * sizeof(Slot) + regexes_.capacity() * sizeof(std::uint32_t);
}

}  // namespace stile::acl
