// RuleSet: the patterns of one list, compiled for look-up by name; immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/host.h"
#include "acl/pattern.h"

namespace stile::acl {

// The hashes of a name and of all its parents, made once per decision and used for every set.
class HostKey {
 public:
  static constexpr std::size_t max_labels = 127;
  explicit HostKey(const Host& host) noexcept;
  struct Part {
    std::uint32_t hash;
    std::uint8_t offset;  // of this suffix in the name
  };
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::size_t labels() const noexcept { return labels_; }
  // 1 is the last label alone, labels() the whole name.
  [[nodiscard]] const Part& part(std::size_t labels) const noexcept { return parts_[labels - 1]; }

 private:
  std::string_view name_;
  std::size_t labels_ = 0;
  Part parts_[max_labels];
};

struct Rule {
  std::uint32_t name_offset = 0;
  std::uint32_t line = 0;
  std::uint32_t next = 0;  // index + 1 of the next rule with the same name; 0: none
  std::uint16_t port = 0;
  std::uint8_t name_length = 0;
  Pattern::Kind kind : 4 = Pattern::Kind::exact;
  Pattern::Reach reach : 4 = Pattern::Reach::bare;
};

class RuleSet;

// A rule and the set that owns it; valid as long as the snapshot that it came from.
struct RuleRef {
  const RuleSet* set = nullptr;
  std::uint32_t index = 0;
  explicit operator bool() const noexcept { return set != nullptr; }
  [[nodiscard]] const Rule& rule() const noexcept;
  [[nodiscard]] std::string pattern() const;   // ".example.com:8443"
  [[nodiscard]] std::string place() const;     // "/etc/stile/stile.toml:12"
  [[nodiscard]] std::string describe() const;  // ".example.com (/etc/stile/stile.toml:12)"
};

class RuleSet {
 public:
  // `source` names the file (or "grant 7f3a…") for people.
  class Builder {
   public:
    explicit Builder(std::string source);
    void reserve(std::size_t rules, std::size_t name_bytes);
    void add(const Pattern& pattern, std::uint32_t line);
    [[nodiscard]] std::shared_ptr<const RuleSet> build() &&;

   private:
    std::unique_ptr<RuleSet> set_;
  };

  // Calls visit(RuleRef) for every rule but regexes whose name covers the host, whatever its port
  // and scheme; stops and returns true when visit returns true.
  template <class Visit>
  bool visit(const HostKey& key, Visit&& visit) const;

  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }
  [[nodiscard]] const Rule& rule(std::uint32_t index) const noexcept { return rules_[index]; }
  [[nodiscard]] std::string_view name(const Rule& rule) const noexcept;
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const std::vector<std::uint32_t>& regexes() const noexcept { return regexes_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  // … internals: arena of names, rules_, open-addressing table of {hash, first rule}
  std::string source_;
  std::string names_;
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> regexes_;  // indices of regex rules; matched by RegexSet
};

}  // namespace stile::acl
