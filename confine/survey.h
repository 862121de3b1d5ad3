// survey: what the plan of a view has to know about this host.
#pragma once

#include <string>
#include <vector>

#include "acl/result.h"
#include "confine/plan.h"

namespace stile::confine {

// A path that the caller has named, as an absolute one. Refused if a part of it is a link: a
// command that ran before may have left it there, and would choose what the next one sees. `flag`
// begins the error: "--read".
[[nodiscard]] Result<std::string> named_place(const std::string& path, const std::string& flag);

// Where a path leads. The links on the way are added to the request, so that it leads there in the
// view, too. "" if there is nothing.
[[nodiscard]] std::string follow(const std::string& path, Request& request);

// Directories and links of the system.
void add_system(Request& request);

// The directories of PATH and of the command, with what belongs to them. After the system, the
// working directory and the homes are known.
void add_programs(const std::string& path_variable, const std::string& command, Request& request);

// Sockets that something on this host listens on, that are mount points, or that a variable names.
// Fails if the kernel's list cannot be read and the view would show all of the host.
[[nodiscard]] Result<void> add_sockets(const std::vector<std::string>& environment,
                                       Request& request);

}  // namespace stile::confine
