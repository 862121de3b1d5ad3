// rotation: remembers on disk which address was given last.
#pragma once

#include <optional>
#include <string>

#include "acl/address.h"
#include "acl/result.h"

namespace stile::netns {

// The directory is the daemon's, which may have been taken over: what is read there is an address
// or nothing, and no link in it is followed.
[[nodiscard]] Result<std::optional<acl::Address>> last_given(const std::string& state_dir);
[[nodiscard]] Result<void> set_last_given(const std::string& state_dir,
                                          const acl::Address& address);

}  // namespace stile::netns
