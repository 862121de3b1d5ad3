// view: makes the file system that a confined command sees.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acl/result.h"
#include "confine/plan.h"

namespace stile::confine {

struct ViewOwner {
  uid_t uid = 0;  // of the places that are made for the command
  gid_t gid = 0;
};

struct ViewRequest {
  View view;
  ViewOwner owner;
  std::optional<std::pair<dev_t, ino_t>> log;  // covered under whatever name it is found
};

// What the caller may want to say.
struct ViewReport {
  bool has_own_proc = false;  // false: the kernel allows no new /proc, and the host's is shown
  std::vector<std::string> secrets;  // that were covered
};

// For the first process of new mount and PID namespaces, with the capabilities to mount there, and
// for one thread only. Opens nothing over a link, and everything with the permissions that it has.
// The command cannot undo it: it has no capability, or is in a user namespace of less power, and
// the kernel locks what such a one inherits.
[[nodiscard]] Result<ViewReport> make_view(const ViewRequest& request);

}  // namespace stile::confine
