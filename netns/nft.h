// nft: changes to nftables, as text. The only user of libnftables.
#pragma once

#include <string>

#include "base/result.h"

namespace stile::netns {

// Runs commands in the syntax of nft(8), in one transaction: all or nothing. Acts in the network
// namespace of the calling thread.
[[nodiscard]] Result<void> run_nft(const std::string& commands);

// The output of nft(8) for a list command.
[[nodiscard]] Result<std::string> list_nft(const std::string& command);

}  // namespace stile::netns
