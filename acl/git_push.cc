// GitPush: which refs a push may change.
#include "acl/git_push.h"

#include <algorithm>

#include "base/quoted.h"

namespace stile::acl {

bool is_plain_ref(std::string_view ref) noexcept {
  if (!ref.starts_with("refs/") || ref.size() > 512) return false;
  const bool has_only = std::none_of(ref.begin(), ref.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f ||
           std::string_view{"~^:?*[\\"}.find(c) != std::string::npos;
  });
  if (!has_only || ref.find("..") != std::string_view::npos ||
      ref.find("@{") != std::string_view::npos) {
    return false;
  }
  for (;;) {
    const auto end = ref.find('/');
    const auto part = ref.substr(0, end);
    if (part.empty() || part.front() == '.' || part.back() == '.' || part.ends_with(".lock")) {
      return false;
    }
    if (end == std::string_view::npos) return true;
    ref.remove_prefix(end + 1);
  }
}

Result<RefPattern> RefPattern::parse(std::string_view text) {
  std::string plain{text};
  std::replace(plain.begin(), plain.end(), '*', 'x');
  if (!is_plain_ref(plain) || text.find('%') != std::string_view::npos) {
    return Error{in_quotes(text) + " is not a ref like refs/heads/agent/*"};
  }
  auto path = PathPattern::parse('/' + std::string{text});
  if (!path) return Error{in_quotes(text) + " is not a ref like refs/heads/agent/*"};
  RefPattern pattern;
  pattern.text_ = text;
  pattern.path_ = std::move(*path);
  return pattern;
}

bool RefPattern::matches(std::string_view ref) const {
  return is_plain_ref(ref) && path_.matches('/' + std::string{ref});
}

std::string judge_push(std::span<const RefPattern> allowed, std::span<const PushCommand> commands) {
  for (const PushCommand& command : commands) {
    if (!is_plain_ref(command.ref)) return "the name of a ref is malformed";
    if (command.is_deletion) return "it would delete " + printable(command.ref);
    const bool is_covered =
        std::any_of(allowed.begin(), allowed.end(),
                    [&](const RefPattern& pattern) { return pattern.matches(command.ref); });
    if (!is_covered) return printable(command.ref) + " is not among the refs that may be pushed";
  }
  return {};
}

}  // namespace stile::acl
