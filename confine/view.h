// view: builds the file system that a confined command sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "confine/plan.h"

namespace stile::confine {

struct ViewOwner {
  uid_t uid = 0;  // owner of the directories made for the command
  gid_t gid = 0;
};

// A file that is made for the command.
struct OwnFile {
  std::string name, text;
  std::string over;  // it is also shown instead of this file, if that exists; "": none
};

// Read-only, in a directory of their own.
struct OwnFiles {
  std::string directory;  // below an empty directory of the view, such as /run
  std::vector<OwnFile> files;
};

struct ViewRequest {
  View view;
  ViewOwner owner;
  std::optional<std::pair<dev_t, ino_t>> log;  // covered under any name
  std::uint64_t own_bytes =
      0;  // size of each directory made for the command; 0: the kernel's limit
  OwnFiles own_files = {};
};

// Facts that the caller may want to report.
struct ViewReport {
  bool has_own_proc = false;  // false: the kernel refuses a new /proc, and the host's is shown
  std::vector<std::string> secrets;  // that were covered
};

// For the first process of new mount and PID namespaces, single-threaded, with the capabilities to
// mount there. Opens nothing through a link, and everything with its own permissions. The command
// cannot undo the view: it has no capabilities, or it is in a less privileged user namespace, whose
// inherited mounts the kernel locks.
[[nodiscard]] Result<ViewReport> make_view(const ViewRequest& request);

}  // namespace stile::confine
