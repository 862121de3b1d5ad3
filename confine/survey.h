// survey: collects the facts about this host that the plan of a view needs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confine/plan.h"

namespace stile::confine {

// Makes a path named by the caller absolute. Refuses a path that contains a link: an earlier
// command may have created the link to choose what the next one sees. `flag` begins the error:
// "--read".
[[nodiscard]] Result<std::string> named_place(const std::string& path, const std::string& flag);

// Whether the command can write there. A home is no working directory.
[[nodiscard]] bool is_own(const std::string& path, const PlanRequest& request);

// Resolves a path. The links on the way are added to the request, so that the path also resolves in
// the view. "" if it does not exist. `has_own_link`: set if a link on the way is where the command
// can write, so that an earlier command may have made it.
[[nodiscard]] std::string follow(const std::string& path, PlanRequest& request,
                                 bool* has_own_link = nullptr);

// Directories and links of the system.
void add_system(PlanRequest& request);

// The directories of PATH and of the command, with the files that belong to them. What only a link
// leads to that an earlier command may have made is left out. Call it after the system, the working
// directory, the homes and the named paths are known.
void add_programs(const std::string& path_variable, const std::string& command,
                  PlanRequest& request);

// Sockets that a process on this host listens on, that are mount points, or that a variable names.
// Fails if the kernel's list cannot be read and the view would show the whole host.
[[nodiscard]] Result<void> add_sockets(const std::vector<std::string>& environment,
                                       PlanRequest& request);

// /etc/resolv.conf and /etc/hosts of a command that has a name server of its own, instead of those
// of the host. A file that the host does not have has no place.
void show_name_files(const std::string& resolver_text, View& view);

}  // namespace stile::confine
