// hidden: which parts of the host's file system the command does not see.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "acl/result.h"
#include "run/options.h"

namespace stile::run {

struct HiddenDirectory {
  std::string path;
  mode_t mode = 0755;
};

struct Hidden {
  // Empty ones in their place. All of /run and the directories that everybody can write: this is
  // where services have their sockets, those that begin to listen later included.
  std::vector<HiddenDirectory> directories;
  // Nothing in their place. Every other socket that is there now, our own log, and devices that
  // lead to the host.
  std::vector<std::string> files;
  // Seen nevertheless.
  std::vector<std::string> exposed;
};

// `environment`: as whoever called has it; sockets that it names are hidden wherever they are. What
// is to be exposed may not lead over a link.
[[nodiscard]] Result<Hidden> choose_hidden(const Options& options,
                                           const std::vector<std::string>& environment,
                                           const std::string& working_directory);

}  // namespace stile::run
