// Ledger: the objects that this host accepted, by name: the memory that makes a rolled-back store
// harmless. Pure: time and texts come in as values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fleet_layer.h"
#include "fleet/envelope.h"
#include "fleet/signing.h"

namespace stile::fleet {

inline constexpr std::size_t max_objects = 1024;

// This host, as the fleet knows it.
struct FleetMember {
  std::string host;
  std::vector<std::string> labels;
};

// What becomes of an object that the store has.
struct ObjectJudgement {
  enum class Kind : std::uint8_t {
    unchanged,  // it was accepted before
    accepted,
    early,    // valid from `not_before` on
    refused,  // for `reason`
  };
  Kind kind = Kind::refused;
  std::string reason = {};
  std::optional<Envelope> envelope = std::nullopt;  // if accepted or early
};

class Ledger {
 public:
  struct Entry {
    std::uint64_t serial = 0;
    std::optional<Envelope> envelope;  // nullopt: not for this host, or its signer is gone
  };

  // What was kept. An object that no signer signed any more keeps only its serial.
  [[nodiscard]] static Ledger restore(const std::vector<config::FleetObject>& objects,
                                      const Signers& signers, const FleetMember& member);

  // Changes nothing.
  [[nodiscard]] ObjectJudgement judge(std::string_view name, std::string_view text,
                                      const Signers& signers, UnixMicros now) const;
  // After a judgement that accepts it.
  void accept(const std::string& name, Envelope envelope, const FleetMember& member);

  [[nodiscard]] const std::map<std::string, Entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::vector<config::FleetObject> objects() const;

 private:
  std::map<std::string, Entry> entries_;
};

// The switch and the policies of the ledger, by name. `slices`: see config::FleetLayer.
[[nodiscard]] config::FleetState state_of(const Ledger& ledger,
                                          const std::map<std::string, config::FleetSlice>& slices,
                                          std::vector<config::FleetRefusal> refused);

// The mode in the body of a switch; nullopt: not one.
enum class Switch : std::uint8_t { online, offline };
[[nodiscard]] std::optional<Switch> switch_of(std::string_view body);
[[nodiscard]] std::string switch_body(Switch mode);

// The name of a candidate's results: hosts and the person who tries it find it from its text.
[[nodiscard]] std::string trial_id(std::string_view text);

// Agents in the policies of this host that have a `bytes_up`: one budget for all hosts.
[[nodiscard]] std::map<std::string, std::uint64_t> fleet_budgets(const Ledger& ledger);

}  // namespace stile::fleet
