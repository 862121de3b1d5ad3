// Public suffixes: names like com, co.uk or github.io, below which anyone can register a name.
#pragma once

#include <string>

namespace stile::acl {

// Uses the list that is compiled into libpsl. For warnings only: the list gets outdated, so no
// decision depends on it.
[[nodiscard]] bool is_public_suffix(const std::string& name);

// Without its first label; "": it has only one.
[[nodiscard]] std::string name_above(const std::string& name);

// The name registered below a public suffix; empty: the host is a public suffix itself.
[[nodiscard]] std::string registered_name(std::string host);

}  // namespace stile::acl
