// policy: compiles the one agent that `stile run` serves.
#include "run/policy.h"

#include <unistd.h>

#include <utility>

#include "config/compile.h"
#include "config/load.h"

namespace stile::run {

config::Checked<Policy> make_policy(const Launch& launch) {
  config::Diagnostics problems;
  auto settings = launch.settings;
  const auto& agent = launch.permissions.agent;
  config::ListFileCache lists{::geteuid()};
  lists.get_all(settings.egress.deny_files,
                config::place_of(settings.file, settings.keys, "egress", "deny_files"),
                "egress.deny_files", nullptr, problems);
  if (problems.has_errors()) return problems;
  settings.agent = {agent};
  config::Loaded loaded{std::move(settings), {}, std::move(lists), {}, ::geteuid(), {}};
  auto shared = std::make_unique<config::Shared>(config::share(loaded));
  auto compiled = config::compile_agent(agent, *shared);
  if (!compiled) return compiled.error();
  control::Reading reading{std::move(loaded), std::move(shared), {std::move(*compiled)}};
  auto base = control::read_file_policy(
      [&]() -> config::Checked<control::Reading> { return std::move(reading); });
  if (!base) return base.error();
  return Policy{agent.id, std::move(*base)};
}

}  // namespace stile::run
