// policy: compiles the one agent that `stile run` serves.
#include "run/policy.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/run_command.h"
#include "base/unix_time.h"
#include "config/compile.h"
#include "config/load.h"

namespace stile::run {
namespace {

constexpr std::size_t max_value_bytes = 20'000;
constexpr std::chrono::seconds command_time{30};

// By the caller and with their rights, before anything is confined.
void run_secret_command(const config::Secrets::Entry& entry, UnixMicros now,
                        config::Diagnostics& problems) {
  auto text = run_command(entry.settings.command, max_value_bytes, command_time);
  if (text) {
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
    const auto good = acl::check_secret_value(*text);
    if (good) return entry.secret->value->set(*text, now);
    text = good.error();
  }
  problems.error(entry.settings.place, "secret." + entry.settings.name, text.error().message);
}

}  // namespace

config::Checked<Policy> make_policy(const Launch& launch, bool runs_nothing) {
  config::Diagnostics problems;
  auto settings = launch.settings;
  auto agent = launch.permissions.agent;
  if (launch.is_connected) agent.secrets.clear();  // only the daemon knows them
  config::ListFileCache lists{::geteuid()};
  lists.get_all(settings.egress.deny_files,
                config::place_of(settings.file, settings.keys, "egress", "deny_files"),
                "egress.deny_files", nullptr, problems);
  if (problems.has_errors()) return problems;
  settings.agent = {agent};
  settings.intercept.ca = "";  // in memory
  config::Loaded loaded{std::move(settings), {}, std::move(lists), {}, ::geteuid(), {}};
  auto shared = std::make_unique<config::SharedParts>(config::share(loaded));
  auto compiled = config::compile_agent(agent, *shared);
  if (!compiled) return compiled.error();
  // Read once: the command may be able to replace a file, and would choose the next value.
  const auto now = unix_micros();
  for (const auto& [name, value] : launch.secret_values) {
    shared->secrets.set_value(name, value, now);
  }
  for (const auto& [name, entry] : shared->secrets.all()) {
    if (!entry.settings.command.empty() && !runs_nothing) run_secret_command(entry, now, problems);
  }
  shared->secrets.read_values(::geteuid(), now, problems);
  if (problems.has_errors()) return problems;
  control::Reading reading{std::move(loaded), std::move(shared), {std::move(*compiled)}};
  auto base = control::read_file_policy(
      [&](const config::FleetLayer&) -> config::Checked<control::Reading> {
        return std::move(reading);
      });
  if (!base) return base.error();
  return Policy{agent.id, std::move(*base)};
}

}  // namespace stile::run
