// settings: [fleet] of a config, and the keys of its signers.
#pragma once

#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "fleet/ledger.h"
#include "fleet/signing.h"

namespace stile::fleet {

// Reads no other file than this one: cards and lists belong to the daemon.
[[nodiscard]] Result<config::FleetSettings> read_settings(const std::string& path);
[[nodiscard]] Result<Signers> read_signers(const config::FleetSettings& settings);
// The name of this host, in lower case, and its labels.
[[nodiscard]] Result<FleetMember> member_of(const config::FleetSettings& settings);
// The private key that signs: of this file, or of $STILE_FLEET_KEY.
[[nodiscard]] Result<std::string> read_signing_key(std::string path);
// A small file, such as a key.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes);

}  // namespace stile::fleet
