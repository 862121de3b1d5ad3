// Agent cards: one [[agent]] entry as JSON, in the form that agent launchers write.
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
  // The start of `ttl_seconds` if the card has no `created`: the file's modification time, or the
  // time of receipt.
  UnixMicros since = 0;
  std::optional<std::string> directory;  // relative paths start here; none: paths are absolute
  bool is_of_fleet = false;
};

[[nodiscard]] Checked<AgentSettings> parse_card(std::string_view text, const CardOrigin& origin);

// The id in a card, even if the rest of the card is invalid; empty: unknown. For messages about
// refused cards.
[[nodiscard]] std::string card_id(std::string_view text);

}  // namespace stile::config
