// RuleSet: the patterns of one list, compiled for lookup by name; immutable and shared.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/host_key.h"
#include "acl/name_table.h"
#include "acl/pattern.h"

namespace stile::acl {

struct Rule {
  std::uint32_t name_offset = 0;
  std::uint32_t line = 0;
  std::uint32_t next = 0;  // index + 1 of the next rule with the same name; 0: none
  std::uint16_t name_length = 0;
  std::uint16_t port = 0;
  Pattern::Kind kind = Pattern::Kind::exact;
  Pattern::Reach reach = Pattern::Reach::bare;
};

class RuleSet;

// A rule and the set that owns it; valid as long as its snapshot.
struct RuleRef {
  const RuleSet* set = nullptr;
  std::uint32_t index = 0;
  explicit operator bool() const noexcept { return set != nullptr; }
  [[nodiscard]] const Rule& rule() const noexcept;
  [[nodiscard]] std::string pattern() const;   // ".example.com:8443"
  [[nodiscard]] std::string place() const;     // "/etc/stile/stile.toml:12"
  [[nodiscard]] std::string describe() const;  // ".example.com (/etc/stile/stile.toml:12)"
};

// A rule that covers a name, with the fields that decide whether it applies to a port and a scheme.
struct CoveringRule : RuleRef {
  Pattern::Reach reach = Pattern::Reach::bare;
  std::uint16_t port = 0;
};

class RuleSet {
 public:
  // `source` is the file (or "grant 7f3a…") for messages.
  class Builder {
   public:
    explicit Builder(std::string source);
    void reserve(std::size_t rules, std::size_t name_bytes);
    void add(const Pattern& pattern, std::uint32_t line);
    // Parses and adds one pattern. A name needs no allocation. List files use this.
    Result<void> add_text(std::string_view text, std::uint32_t line);
    [[nodiscard]] std::shared_ptr<const RuleSet> build() &&;

   private:
    void append(Pattern::Kind kind, Pattern::Reach reach, std::uint16_t port, std::string_view name,
                std::uint32_t line);
    std::unique_ptr<RuleSet> set_;
    std::string names_;  // where the rules' offsets point until build()
  };

  // Calls visit(CoveringRule) for every rule whose name covers the host, with any port and scheme;
  // regexes are left out. The closest names come first. Stops and returns true when visit returns
  // true.
  template <class Visit>
  bool visit(const HostKey& key, Visit&& visit) const;

  // In the order in which they were added.
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }
  [[nodiscard]] const Rule& rule(std::uint32_t index) const noexcept { return rules_[index]; }
  [[nodiscard]] std::string_view name(const Rule& rule) const noexcept;
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const std::vector<std::uint32_t>& regexes() const noexcept { return regexes_; }
  // The memory that the set uses, including the names.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  [[nodiscard]] std::size_t name_bytes() const noexcept { return name_bytes_; }

 private:
  using Depths = std::bitset<HostKey::max_labels + 1>;
  void index_rules(const std::string& names);
  void link(std::uint32_t index, std::uint32_t hash, std::string_view name);
  void chain(std::uint32_t first, std::uint32_t index);

  std::string source_;
  std::vector<Rule> rules_;
  NameTable table_;
  std::vector<std::uint32_t> regexes_;  // indices of regex rules; matched by RegexSet
  std::string expressions_;             // of the regexes
  std::size_t name_bytes_ = 0;
  std::uint32_t any_ = 0;  // index + 1 of the first `*`
  // The label counts that names have: other depths are not searched.
  Depths exact_depths_, tree_depths_;
};

inline const Rule& RuleRef::rule() const noexcept { return set->rule(index); }

inline std::string_view RuleSet::name(const Rule& rule) const noexcept {
  if (rule.kind == Pattern::Kind::regex) {
    return std::string_view{expressions_}.substr(rule.name_offset, rule.name_length);
  }
  return table_.name_at(rule.name_offset, rule.name_length);
}

template <class Visit>
bool RuleSet::visit(const HostKey& key, Visit&& visit) const {
  for (std::size_t depth = key.labels(); depth >= 1; --depth) {
    const bool is_whole = depth == key.labels();
    if (!tree_depths_[depth] && !(is_whole && exact_depths_[depth])) continue;
    const auto& [hash, offset] = key.part(depth);
    const NameTable::Entry entry = table_.find(hash, key.name().substr(offset));
    if (entry.rule == 0) continue;
    const auto covers = [&](Pattern::Kind kind) {
      return kind == Pattern::Kind::suffix || is_whole == (kind == Pattern::Kind::exact);
    };
    if (covers(entry.kind) &&
        visit(CoveringRule{{this, entry.rule - 1}, entry.reach, entry.port})) {
      return true;
    }
    std::uint32_t next = entry.has_more ? rules_[entry.rule - 1].next : 0;
    while (next != 0) {
      const Rule& more = rules_[next - 1];
      if (covers(more.kind) && visit(CoveringRule{{this, next - 1}, more.reach, more.port})) {
        return true;
      }
      next = more.next;
    }
  }
  return any_ != 0 && key.labels() != 0 && visit(CoveringRule{{this, any_ - 1}});
}

}  // namespace stile::acl
