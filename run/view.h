// view: the file system as the command sees it.
#pragma once

#include "acl/result.h"
#include "run/hidden.h"
#include "run/identity.h"

namespace stile::run {

// For the first process of new mount and PID namespaces, with the capabilities of its user
// namespace. The command, which has none, cannot undo it; nor can it in a namespace of its own,
// since the kernel locks what such a copy inherits.
//
// True: /proc shows only what is inside. False: the kernel allows no new one, because parts of the
// old one are covered (as container runtimes do); the command sees what runs outside, but the
// kernel lets it look no closer into another user namespace.
[[nodiscard]] Result<bool> mount_view(const Hidden& hidden, const Identity& identity);

}  // namespace stile::run
