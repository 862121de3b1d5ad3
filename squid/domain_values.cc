// The values of `acl … dstdomain`.
#include "squid/domain_values.h"

#include "acl/pattern.h"

namespace stile::squid {
namespace {

// An address as in a URL, with or without brackets.
std::optional<acl::Address> as_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return acl::Address::parse(text);
}

Error refused(std::string_view text, const std::string& why) {
  return {"'" + std::string{text} + "' " + why};
}

// Calls visit(name) for the names above this one; stops when it returns true.
template <class Visit>
bool any_parent(std::string_view name, Visit&& visit) {
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    if (visit(std::string{name})) return true;
  }
  return false;
}

}  // namespace

Result<Remark> DomainValues::add(std::string_view text, std::uint32_t line) {
  if (const auto address = as_address(text)) {
    literals_.push_back(*address);
    return Remark{};
  }
  if (text.ends_with('.')) return refused(text, "ends in a dot; squid never matches such a name");
  const auto pattern = acl::Pattern::parse(text);
  if (!pattern) return pattern.error();
  using Kind = acl::Pattern::Kind;
  const bool is_tree = pattern->kind == Kind::suffix;
  if ((!is_tree && pattern->kind != Kind::exact) || pattern->reach != acl::Pattern::Reach::bare) {
    return refused(text, "is not a name; write name.example or .name.example");
  }
  const std::string& name = pattern->name;
  if (is_tree ? names_.contains(name) : trees_.contains(name)) {
    return refused(text, "overlaps '" + std::string(is_tree ? "" : ".") + name +
                             "', which squid refuses; remove one of them");
  }
  if (trees_.contains(name) ||
      any_parent(name, [&](const std::string& above) { return trees_.contains(above); })) {
    return Remark{"'" + std::string{text} + "' is covered by an earlier value of this acl"};
  }
  if (is_tree && parents_.contains(name)) {
    return refused(text,
                   "covers an earlier value of this acl, which squid refuses; remove that one");
  }
  if (!(is_tree ? trees_ : names_).insert(name).second) return Remark{};
  any_parent(name, [&](const std::string& above) {
    parents_.insert(above);
    return false;
  });
  rules_.add(*pattern, line);
  return Remark{};
}

}  // namespace stile::squid
