// nft: changes to nftables, as text. What libnftables is used for.
#pragma once

#include <string>

#include "acl/result.h"

namespace stile::netns {

// Runs commands as nft(8) reads them, in one transaction: all of it or nothing. Acts in the network
// namespace of the calling thread.
[[nodiscard]] Result<void> run_nft(const std::string& commands);

// What nft(8) prints for a command that lists.
[[nodiscard]] Result<std::string> list_nft(const std::string& command);

}  // namespace stile::netns
