// Turns a parsed stile.toml into Settings: reads every key by the schema, then checks keys that
// depend on each other.
#pragma once

#include <string_view>
#include <vector>

#include "config/node.h"
#include "config/reader.h"
#include "config/settings.h"

namespace stile::config {

// Reads as much as possible, so that all errors are reported together. Use the result only if the
// reader has no errors.
[[nodiscard]] Settings read_settings(const Node& document, const Reader& reader);

// Reads one key of an [[agent]] or of a card. False: the key is unknown.
[[nodiscard]] bool read_agent_key(std::string_view name, const Member& member, const Reader& reader,
                                  AgentSettings& agent);

// Reads one [[secret]] or [[scan]].
[[nodiscard]] SecretSettings read_secret(const Node& node, const Node::Table& table, Reader reader);
[[nodiscard]] ScanSettings read_scan(const Node& node, const Node::Table& table, Reader reader);

// Reports an unknown key, with the known one that was probably meant.
void unknown_key(const Member& member, const Reader& reader,
                 const std::vector<std::string_view>& known);

}  // namespace stile::config
