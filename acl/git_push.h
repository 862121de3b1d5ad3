// GitPush: which refs a push may change. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "acl/path_pattern.h"
#include "base/result.h"

namespace stile::acl {

// `refs/heads/agent/*`: `*` stands for any bytes of one part, `**` for any number of parts.
class RefPattern {
 public:
  static Result<RefPattern> parse(std::string_view text);
  [[nodiscard]] bool matches(std::string_view ref) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  friend bool operator==(const RefPattern& a, const RefPattern& b) { return a.text_ == b.text_; }

 private:
  std::string text_;
  PathPattern path_;  // the same below a slash
};

struct PushCommand {
  std::string ref;
  bool is_deletion = false;
};

// Why a push is refused as a whole; empty: it is not. Only texts and refs that are plain are part
// of it: git shows it to its user.
[[nodiscard]] std::string judge_push(std::span<const RefPattern> allowed,
                                     std::span<const PushCommand> commands);

// What git itself takes as the name of a ref below refs/ (git-check-ref-format).
[[nodiscard]] bool is_plain_ref(std::string_view ref) noexcept;

}  // namespace stile::acl
