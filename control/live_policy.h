// LivePolicy: the policy of the files plus the changes made through the control socket, and the
// resulting snapshot. Single-threaded; uses neither sockets nor clocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"
#include "control/file_policy.h"
#include "control/overlay.h"
#include "control/protocol.h"
#include "control/saved_state.h"

namespace stile::control {

// One change. Applying it returns the edit that undoes it.
struct Edit {
  std::optional<std::optional<acl::Mode>> mode;   // the global one; nullopt inside: as in the file
  std::optional<bool> fleet_offline;              // the fleet's switch
  std::map<std::string, AgentOverlayPtr> agents;  // null: removes the overlay
  std::map<std::string, PutCardPtr> cards;        // null: removes the card
  struct HostAmounts {
    std::int64_t requests = 0, tokens = 0, owed_tokens = 0;
    // Of the last minute: nullopt forgets them.
    std::optional<acl::MinuteCount::Saved> minute = std::nullopt;
  };
  struct Budgets {
    std::int64_t up = 0, down = 0;
    std::map<std::string, HostAmounts> hosts = {};
  };
  std::map<std::string, Budgets> budgets;  // the amounts to add
  // For an undo: the usage of agents that were removed, to restore it with them.
  std::map<std::string, std::shared_ptr<acl::Account>> accounts;
  std::vector<std::string> touched;  // agents that differ in the new snapshot
};

class LivePolicy {
 public:
  // One agent in force.
  struct Running {
    EntryPtr entry;
    std::shared_ptr<acl::Account> account;
    std::shared_ptr<const acl::AgentPolicy> policy;
    AgentOverlayPtr overlay;  // the policy was made with it; null: none
    acl::Mode global = acl::Mode::enforce;
  };
  using Agents = std::map<std::string, Running, std::less<>>;

  // Applies the saved changes to the files as they are now; drops what no longer fits.
  LivePolicy(FilePolicyPtr base, const SavedState& saved);

  // Applies the edit completely or not at all. The snapshot follows at publish().
  [[nodiscard]] Outcome<Edit> apply(const Edit& edit);
  // Applies changed files. Returns the old base: freeing a large one takes time.
  [[nodiscard]] FilePolicyPtr rebase(FilePolicyPtr base);
  // The snapshot of all applied changes.
  const std::shared_ptr<const acl::Snapshot>& publish();

  [[nodiscard]] const std::shared_ptr<const acl::Snapshot>& snapshot() const noexcept {
    return snapshot_;
  }
  [[nodiscard]] const FilePolicy& base() const noexcept { return *base_; }
  [[nodiscard]] const Agents& agents() const noexcept { return running_; }
  [[nodiscard]] const Running* find(std::string_view id) const;
  // Never null: empty if nothing was changed.
  [[nodiscard]] AgentOverlayPtr overlay(const std::string& id) const;
  [[nodiscard]] const std::map<std::string, AgentOverlayPtr>& overlays() const noexcept {
    return overlays_;
  }
  [[nodiscard]] const std::map<std::string, PutCardPtr>& cards() const noexcept { return cards_; }
  [[nodiscard]] bool is_put(const std::string& id) const { return put_.count(id) != 0; }
  // The global mode, and whether it was set through the socket.
  [[nodiscard]] acl::Mode mode() const noexcept;
  [[nodiscard]] std::optional<acl::Mode> set_mode() const noexcept { return mode_; }
  // The fleet's switch: offline for all agents, whatever the files and the socket say.
  [[nodiscard]] bool is_fleet_offline() const noexcept { return fleet_offline_; }
  // Cards of put-agent that conflict with the files as they are now.
  [[nodiscard]] const std::map<std::string, config::Diagnostics>& refused_cards() const noexcept {
    return refused_;
  }
  // When the next agent or grant in force expires.
  [[nodiscard]] std::optional<UnixMicros> next_expiry(UnixMicros now) const;
  [[nodiscard]] SavedState save() const;

 private:
  [[nodiscard]] EntryPtr entry_of(const std::string& id) const;
  // The file's entry, if it was removed through the socket.
  [[nodiscard]] EntryPtr removed_entry(const std::string& id) const;
  void inherit_overlays(const std::map<std::string, std::optional<AgentIdentity>>& before);
  [[nodiscard]] Outcome<void> set_card(const std::string& id, const PutCardPtr& card);
  void drop_card(const std::string& id);
  void set_overlay(const std::string& id, AgentOverlayPtr overlay);
  void read_all_cards();
  void refresh(const std::string& id, std::shared_ptr<acl::Account> account = nullptr);
  void refresh_all();

  FilePolicyPtr base_;
  config::Claims claims_;  // those of the files without removed entries, and those of the cards
  std::optional<acl::Mode> mode_;
  bool fleet_offline_ = false;
  std::map<std::string, AgentOverlayPtr> overlays_;
  std::map<std::string, PutCardPtr> cards_;
  Entries put_;  // the cards in force
  std::map<std::string, config::Diagnostics> refused_;
  Agents running_;
  std::shared_ptr<const acl::Snapshot> snapshot_ = std::make_shared<acl::Snapshot>();
};

}  // namespace stile::control
