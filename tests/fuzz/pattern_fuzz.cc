// Fuzzes patterns: what parses can be written, read again, and found by the names that it covers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "acl/regex_set.h"
#include "acl/rule_set.h"

namespace {

using namespace stile::acl;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_error(const std::string& message) {
  require(!message.empty() && message.size() < 1000);
  for (const char c : message) require(c >= 0x20 && c < 0x7f);
}

bool covers(const RuleSet& set, const std::string& name) {
  const HostParse parse = parse_host(name);
  if (parse.kind != HostParse::Kind::name) return false;
  return set.visit(HostKey{parse.host}, [](RuleRef) { return true; });
}

void check_look_up(const Pattern& pattern, const RuleSet& set) {
  using Kind = Pattern::Kind;
  const bool is_tree = pattern.kind == Kind::suffix || pattern.kind == Kind::below;
  if (pattern.kind == Kind::any) {
    require(covers(set, "a") && covers(set, "b.example"));
    return;
  }
  require(covers(set, pattern.name) == (pattern.kind != Kind::below));
  require(!covers(set, 'a' + pattern.name));
  // Below another top-level label it is another name.
  require(!covers(set, pattern.name + (pattern.name.ends_with('q') ? ".r" : ".q")));
  const std::string below = "a." + pattern.name;
  require(covers(set, below) == (is_tree && below.size() <= Host::max_length));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view raw{reinterpret_cast<const char*>(data), size};
  const auto pattern = Pattern::parse(raw);
  RuleSet::Builder builder{"fuzz"};
  const auto added = builder.add_text(raw, 1);
  require(pattern.has_value() == added.has_value());
  if (!pattern) {
    check_error(pattern.error().message);
    return 0;
  }
  const auto again = Pattern::parse(pattern->text());
  require(again.has_value() && again->text() == pattern->text() && again->name == pattern->name);

  const auto set = std::move(builder).build();
  require(set->size() == 1 && RuleRef{set.get(), 0}.pattern() == pattern->text());
  if (pattern->kind == Pattern::Kind::regex) {
    const auto regexes = RegexSet::compile({set});
    if (regexes) require(!(*regexes)->match("api-1.example.com").failed);
  } else {
    check_look_up(*pattern, *set);
  }
  return 0;
}
