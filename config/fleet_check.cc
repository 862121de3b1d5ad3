// fleet_check: compiles a policy of a fleet on a host without files of its own.
#include "config/fleet_check.h"

#include <unistd.h>

#include <utility>

#include "config/compile.h"
#include "config/load.h"

namespace stile::config {

Diagnostics check_fleet_policy(const FleetPolicy& policy) {
  Diagnostics problems;
  Settings settings;
  settings.file = policy.file();
  settings.agents.directories.clear();
  lay_under(settings, {{policy}, {}}, problems);
  if (problems.has_errors()) return problems;
  check_settings(settings, problems);
  Claims claims;
  claims.claim_server(settings, problems);
  ListFileCache lists{::geteuid()};
  auto cards = read_cards(settings, ::geteuid(), claims, lists);
  if (!cards) problems.append(cards.error());
  if (problems.has_errors()) return problems;
  Loaded loaded{std::move(settings), std::move(*cards), std::move(lists),
                std::move(claims),   ::geteuid(),       {}};
  auto shared = share(loaded);
  const auto agents = compile_all(loaded, shared);
  if (!agents) problems.append(agents.error());
  for (const auto& card : loaded.cards.rejected) problems.append(card.problems);
  problems.sort();
  return problems;
}

}  // namespace stile::config
