// replay: judges the requests of a log by two policies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/judge.h"

namespace stile::cli {

struct ReplayRow {
  std::string agent;   // "-": no agent
  std::string target;  // printable
  std::uint64_t count = 0;
  Judgement before, after;
};

struct Replay {
  std::vector<ReplayRow> refused;  // newly
  std::vector<ReplayRow> allowed;  // newly
  std::vector<ReplayRow> noted;    // still let through, but would-deny is new or gone
  std::uint64_t requests = 0, targets = 0;
};

// Each list is sorted by the number of requests, highest first.
[[nodiscard]] CommandOutcome<Replay> replay(const Seen& seen, const Judge& before,
                                            const Judge& after);

}  // namespace stile::cli
