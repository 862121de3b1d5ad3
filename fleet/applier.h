// Applier: takes what the store has, keeps what counts, and hands the result to the daemon. It
// knows neither store nor socket: the daemon is a function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fleet_layer.h"
#include "fleet/ledger.h"

namespace stile::fleet {

// One key of the store, without the prefix.
struct StoredObject {
  std::string name, text;
};

// What the daemon made of a state.
struct Handed {
  enum class Kind : std::uint8_t {
    done,
    refused,  // for `message`: its policy stays as it was
    away,     // not reached, or it could not save it: again later
  };
  Kind kind = Kind::away;
  std::string message = {};
  std::uint64_t generation = 0, agents = 0;
  std::vector<config::FleetRefusal> rejected = {};  // agents that conflict with this host's files
};

class Applier {
 public:
  using HandOver = std::function<Handed(const config::FleetState&)>;

  // `kept` is what the daemon kept of an earlier run.
  Applier(Signers signers, FleetMember member, const config::FleetState& kept, HandOver hand_over);

  // What the store has now. A name that is not among them stays as it is: the store could withhold
  // it.
  void take(std::vector<StoredObject> found, UnixMicros now);
  // What had to wait for its time or for the daemon.
  void settle(UnixMicros now);
  // Takes more of the fleet's budget of an agent, or learns that all of it is handed out (0: it is
  // not). The state goes to the daemon.
  void add_slice(const std::string& agent, std::uint64_t bytes, std::uint64_t exhausted,
                 UnixMicros now);

  // False: it does not count, whatever comes after it. The reason is noted.
  [[nodiscard]] bool is_worth_keeping(const std::string& name, std::string_view text,
                                      UnixMicros now);
  // Whether a switch is among them that would count now and says offline.
  [[nodiscard]] bool turns_offline(const std::vector<StoredObject>& found, UnixMicros now) const;

  // The state as it would be with this policy, if it is signed as the candidate "try/NAME", valid
  // now and for this host.
  [[nodiscard]] std::optional<config::FleetState> trial(std::string_view name,
                                                        std::string_view text,
                                                        UnixMicros now) const;

  // When settle() has something to do.
  [[nodiscard]] std::optional<UnixMicros> next_due() const;
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  [[nodiscard]] const std::map<std::string, config::FleetSlice>& slices() const noexcept {
    return slices_;
  }
  [[nodiscard]] std::vector<config::FleetRefusal> refused() const;
  [[nodiscard]] const Handed& last() const noexcept { return last_; }
  [[nodiscard]] bool is_offline() const;
  [[nodiscard]] const FleetMember& member() const noexcept { return member_; }

 private:
  struct Waiting {
    std::string text;
    UnixMicros due = 0;
  };
  using Candidates = std::map<std::string, Envelope>;

  [[nodiscard]] Candidates judge_waiting(UnixMicros now);
  void apply(const Candidates& candidates, UnixMicros now);
  // False: the daemon is away.
  bool send(const Ledger& ledger, UnixMicros now);
  void note(const std::string& name, const std::string& reason);

  Signers signers_;
  FleetMember member_;
  HandOver hand_over_;
  Ledger ledger_;
  std::map<std::string, config::FleetSlice> slices_;
  std::map<std::string, Waiting> waiting_;
  std::map<std::string, std::string> notes_;  // why an object of the store does not count
  std::optional<config::FleetState> sent_;
  std::optional<UnixMicros> retry_;
  Handed last_;
};

}  // namespace stile::fleet
