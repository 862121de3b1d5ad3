// Schema: the one table of keys. It drives reading, the hints for unknown keys, what a reload may
// change, `check --effective` and docs/configuration.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader.h"
#include "config/settings.h"

namespace stile::config {

// What is needed to apply a changed value in a running daemon. A reload that changes a key which
// needs a restart is refused; see restart_keys.h.
enum class Applies : std::uint8_t { reload, restart };
[[nodiscard]] constexpr std::string_view text(Applies applies) noexcept {
  return applies == Applies::reload ? "reload" : "restart";
}

template <class Owner>
struct Key {
  std::string_view section;  // "server"; "agent" for the keys of [[agent]]
  std::string_view name;
  std::string_view type;  // for people
  std::string_view help;
  // Reads a value into its member. An invalid value is reported and changes nothing.
  void (*read)(const Node&, const Reader&, Owner&);
  // The member as TOML; empty: not set. For a default-constructed Owner this is the default.
  std::string (*print)(const Owner&);
  Applies applies = Applies::reload;
};

struct Section {
  std::string_view name;
  std::string_view help;
};

[[nodiscard]] std::span<const Section> sections() noexcept;
[[nodiscard]] std::span<const Key<Settings>> global_keys() noexcept;  // grouped by section
// Null: the section has no such key.
[[nodiscard]] const Key<Settings>* find_key(std::string_view section,
                                            std::string_view name) noexcept;
[[nodiscard]] std::vector<std::string_view> key_names(std::string_view section);
[[nodiscard]] std::span<const Key<AgentSettings>> agent_keys() noexcept;
[[nodiscard]] std::span<const Key<SecretSettings>> secret_keys() noexcept;
[[nodiscard]] std::span<const Key<ScanSettings>> scan_keys() noexcept;

// Additional keys of cards: an alternative spelling of an [[agent]] key, or a key that only cards
// have.
struct CardKey {
  std::string_view name;
  std::string_view same_as;  // a key of [[agent]]; empty: none
  std::string_view help;
};
[[nodiscard]] std::span<const CardKey> card_keys() noexcept;
// Keys that only matter to an agent launcher (config/launch.h); the daemon ignores them.
[[nodiscard]] std::span<const std::string_view> launcher_keys() noexcept;

}  // namespace stile::config
