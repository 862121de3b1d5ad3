// rotation: stores on disk which address was assigned last.
#pragma once

#include <optional>
#include <string>

#include "acl/address.h"
#include "base/result.h"

namespace stile::netns {

// The directory belongs to the daemon, which may be compromised: what is read there must be an
// address or is ignored, and no link in it is followed.
[[nodiscard]] Result<std::optional<acl::Address>> last_given(const std::string& state_dir);
[[nodiscard]] Result<void> set_last_given(const std::string& state_dir,
                                          const acl::Address& address);

}  // namespace stile::netns
