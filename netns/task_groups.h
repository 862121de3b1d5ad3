// TaskGroups: one control group for each task of a worker, so that all of its processes can be
// ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/unique_fd.h"

namespace stile::netns {

class TaskGroups {
 public:
  // Below the group of the worker's unit. Without one, or without control groups of version 2, all
  // of this does nothing.
  static TaskGroups of_unit(const std::string& worker);

  // Makes the group of a run and moves a process into it: what the process forks from then on is in
  // the group, and cannot leave it. False: there is no group.
  bool enter(std::uint64_t run, pid_t process);
  // Moves the process back.
  void leave(pid_t process) const;
  // Ends all processes of the run, in any session.
  void kill(std::uint64_t run) const;
  // Removes the groups of ended runs that have no processes any more.
  void forget(std::uint64_t run);

 private:
  TaskGroups() = default;

  UniqueFd unit_;                  // the directory of the unit's group
  std::set<std::uint64_t> ended_;  // their groups still exist
};

}  // namespace stile::netns
