// read_logs: reads the requests of several audit logs and reports invalid lines.
#include "cli/read_logs.h"

#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "audit/text.h"
#include "cli/command.h"

namespace stile::cli {

CommandOutcome<Seen> read_logs(const std::vector<std::string>& files) {
  Seen seen;
  for (const auto& file : files) {
    if (const auto read = seen.read(file); !read) {
      const bool is_hidden = ::access(file.c_str(), F_OK) == 0 || errno == EACCES;
      return CommandFailure{failed, "no-log", "cannot read " + read.error().message,
                            is_hidden ? as_root() : "", is_hidden ? "" : "name another log"};
    }
  }
  if (seen.foreign_lines() > 0) {
    std::cerr << "stile: " << audit::counted(seen.foreign_lines(), "line")
              << " ignored: not of an audit log in JSON\n";
  }
  if (seen.dropped() > 0) {
    std::cerr << "stile: " << audit::counted(seen.dropped(), "request")
              << " ignored: more different hosts than can be kept\n";
  }
  return seen;
}

}  // namespace stile::cli
