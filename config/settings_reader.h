// A parsed stile.toml to Settings: every key by the schema, then what only shows when they are seen
// together.
#pragma once

#include <string_view>
#include <vector>

#include "config/node.h"
#include "config/reader.h"
#include "config/settings.h"

namespace stile::config {

// Reads as much as can be read, so that all errors come at once; what is returned may be used only
// if the reader's problems have none.
[[nodiscard]] Settings read_settings(const Node& document, const Reader& reader);

// Reads one key of an agent, of [[agent]] or of a card. False: there is no key of that name.
[[nodiscard]] bool read_agent_key(std::string_view name, const Member& member, const Reader& reader,
                                  AgentSettings& agent);

// Complains about a key that nobody knows and names the known one that was probably meant.
void unknown_key(const Member& member, const Reader& reader,
                 const std::vector<std::string_view>& known);

}  // namespace stile::config
