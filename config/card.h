// Agent cards: one [[agent]] entry as JSON, in the shape that launchers of agents write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/settings.h"

namespace stile::config {

inline constexpr std::size_t max_card_bytes = 64U << 10U;

struct CardOrigin {
  std::string name;  // the file, or "put-agent", for messages and audit lines
  // Where `ttl_seconds` begins when the card has no `created`: the file's last change, or the time
  // of receipt.
  acl::UnixMicros since = 0;
  std::optional<std::string> directory;  // relative paths start here; none: paths are absolute
};

[[nodiscard]] Checked<AgentSettings> parse_card(std::string_view text, const CardOrigin& origin);

// The id that a card says it has, even if the rest of it is wrong; empty: cannot be told. For
// messages about cards that were refused.
[[nodiscard]] std::string card_id(std::string_view text);

}  // namespace stile::config
