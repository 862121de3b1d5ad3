// replay: the requests of a log, judged by two policies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/judge.h"

namespace stile::cli {

struct ReplayRow {
  std::string agent;   // "-": nobody's
  std::string target;  // printable
  std::uint64_t count = 0;
  Judgement before, after;
};

struct Replay {
  std::vector<ReplayRow> refused;  // newly
  std::vector<ReplayRow> allowed;  // newly
  std::vector<ReplayRow> noted;    // still let through, but logged as would-deny, or no longer so
  std::uint64_t requests = 0, targets = 0;
};

// The rows of each list: the most requests first.
[[nodiscard]] Outcome<Replay> replay(const Seen& seen, const Judge& before, const Judge& after);

}  // namespace stile::cli
