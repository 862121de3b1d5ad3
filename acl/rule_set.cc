// Building of rule sets, and the hash of names.
#include "acl/rule_set.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace stile::acl {
namespace {

// The hash of a name is the sum of its bytes, each times a power of an odd number that counts from
// the end of the name: so the hashes of all its parents fall off on the way from the last byte to
// the first, and no byte waits for the product of another.
constexpr std::array<std::uint64_t, Host::max_length> make_powers() {
  std::array<std::uint64_t, Host::max_length> powers{};
  std::uint64_t power = 0x9e3779b97f4a7c15;
  for (auto& p : powers) {
    p = power;
    power *= 0xd6e8feb86659fd93;
  }
  return powers;
}
constexpr auto powers = make_powers();

constexpr std::uint64_t term(char c, std::size_t from_end) noexcept {
  return static_cast<unsigned char>(c) * powers[from_end];
}

// Spreads the sum over all bits; the table takes the upper ones.
constexpr std::uint32_t finish(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 32) * 0xd6e8feb86659fd93;
  return static_cast<std::uint32_t>(sum >> 32);
}

std::uint32_t hash_name(std::string_view name) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < name.size(); ++i) sum += term(name[name.size() - 1 - i], i);
  return finish(sum);
}

}  // namespace

HostKey::HostKey(const Host& host) noexcept : name_{host.text()} {
  // Every byte stores a part, and only a dot keeps it: a branch on the bytes would be guessed wrong
  // once or twice in each name.
  std::array<std::uint64_t, max_labels + 1> sums;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < name_.size(); ++i) {
    const std::size_t at = name_.size() - 1 - i;
    sums[labels_] = sum;
    parts_[labels_].offset = static_cast<std::uint32_t>(at + 1);
    labels_ += name_[at] == '.' ? 1U : 0U;
    sum += term(name_[at], i);
  }
  if (name_.empty()) return;
  sums[labels_] = sum;
  parts_[labels_++].offset = 0;
  for (std::size_t i = 0; i < labels_; ++i) parts_[i].hash = finish(sums[i]);
}

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
  // A rule that is left out could be a deny rule, and an offset that wraps another one's name.
  constexpr std::size_t max = std::numeric_limits<std::uint32_t>::max();
  if (set_->names_.size() > max - name.size() || name.size() > Pattern::max_regex_length) {
    throw std::length_error{"RuleSet: more than 4 GiB of names in one list"};
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
      hashes[i] = hash_name(name(rules_[start + i]));
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
