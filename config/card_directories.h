// Cards: the agents in the directories of agent cards.
#pragma once

#include <string>
#include <vector>

#include "config/cross_checks.h"
#include "config/diagnostics.h"
#include "config/digest.h"
#include "config/list_file_cache.h"
#include "config/settings.h"

namespace stile::config {

struct RejectedCard {
  std::string file;
  std::string id;  // empty: unknown
  Diagnostics problems;
};

struct Cards {
  std::vector<AgentSettings> accepted;
  std::vector<RejectedCard> rejected;
};

// Reads the *.json files of the directories, in their order and then by name. Hidden files (and so
// Kubernetes' ..data) are skipped. A card that is invalid, or whose id, source or listener is
// taken, refuses only its own agent. A missing directory is not an error; one that others can write
// or that cannot be read is.
[[nodiscard]] Checked<Cards> read_cards(const Settings& settings, uid_t config_owner,
                                        Claims& claims, ListFileCache& lists,
                                        Digest* digest = nullptr);

// Reads the list files that an agent names.
void read_lists(const AgentSettings& agent, ListFileCache& lists, Digest* digest,
                Diagnostics& problems);

}  // namespace stile::config
