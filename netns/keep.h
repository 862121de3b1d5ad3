// keep: parts of the host's file system that are seen although what is around them is hidden.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {

// A part of the old view that goes to the same place in the new one.
struct Kept {
  std::string path;
  UniqueFd tree;
  bool is_directory = true;
};

// Refuses a path that leads over a link. A command that ran before, or one that runs now, may be
// able to write on the way there: it would choose what is shown, or have us make directories for
// it. A path that does not exist has no link in it. `what` begins the error: "cannot expose".
[[nodiscard]] Result<void> refuse_links(const std::string& path, const std::string& what);

// In the mount namespace that is to be changed; `path` is absolute and has no link in it.
[[nodiscard]] Result<Kept> keep(const std::string& path);
[[nodiscard]] Result<void> put_back(const Kept& kept);

// Links in /run without which a NixOS has no programs. They lead to where nobody can write.
struct SystemLink {
  std::string path, target;
};
[[nodiscard]] std::vector<SystemLink> system_links();
// Those that are still there stay.
[[nodiscard]] Result<void> put_back(const std::vector<SystemLink>& links);

// A virtual machine of the agent's making could speak to the host through these.
inline constexpr std::array<const char*, 3> machine_devices{"/dev/vsock", "/dev/vhost-vsock",
                                                            "/dev/vhost-net"};

}  // namespace stile::netns
