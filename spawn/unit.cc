// unit: the transient unit of systemd that a worker runs as.
#include "spawn/unit.h"

#include <vector>

#include "base/ascii.h"
#include "spawn/request.h"
#include "spawn/texts.h"

namespace stile::spawn {
namespace {

using units::Exec;

constexpr std::string_view prefix = "sandboxed-agent@";
constexpr std::string_view suffix = ".service";
constexpr std::uint64_t bytes_per_mb = 1U << 20U;
constexpr std::uint64_t seconds_to_start = 30;
// The keeper gives tasks five. Where systemd cannot see that a control group is empty (version 1,
// in a container), a killed worker takes as long as this.
constexpr std::uint64_t seconds_to_stop = 8;
// The keeper and the first process inside, beside the worker's own processes.
constexpr std::uint64_t own_processes = 2;

std::vector<Exec> removal(const UnitFacts& facts) {
  return {Exec{{facts.netns, "delete", facts.id, "--kill", "--instance", facts.instance}, false}};
}

}  // namespace

std::string unit_name(std::string_view id) {
  return std::string{prefix} + std::string{id} + std::string{suffix};
}

std::string id_of_unit(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return {};
  }
  const auto id = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  return is_plain_id(id) ? std::string{id} : std::string{};
}

units::Unit worker_unit(const UnitFacts& facts) {
  auto limits = facts.limits;
  if (limits.max_processes) *limits.max_processes += own_processes;
  auto properties = units::group_limits(limits);
  const auto add = [&](const char* name, units::PropertyValue value) {
    properties.push_back({name, std::move(value)});
  };
  const auto seconds = [](std::uint64_t count) { return count * std::uint64_t{micros_in_second}; };
  using Texts = std::vector<std::string>;
  add("Description", "Sandboxed agent " + facts.id);
  add("Wants", Texts{"stile-fence.service", "stiled.service"});
  add("After", Texts{"stile-fence.service", "stiled.service"});
  // The unit must not stay loaded after its end: its name is needed for the next worker.
  add("CollectMode", std::string{"inactive-or-failed"});
  add("Type", std::string{"notify"});
  add("NotifyAccess", std::string{"main"});
  add("ExecStartPre", std::vector<Exec>{{{facts.netns, "create", facts.id, "--card", facts.card,
                                          "--new", facts.instance},
                                         false}});
  add("ExecStart", std::vector<Exec>{{{facts.netns, "worker", facts.worker_file}, false}});
  add("ExecStopPost", removal(facts));
  add("KillMode", std::string{"mixed"});
  add("TimeoutStartUSec", seconds(seconds_to_start));
  add("TimeoutStopUSec", seconds(seconds_to_stop));
  if (facts.ttl_seconds > 0) {
    add("RuntimeMaxUSec", seconds(static_cast<std::uint64_t>(facts.ttl_seconds)));
  }
  if (limits.max_open_files) add("LimitNOFILE", *limits.max_open_files);
  if (limits.disk_mb) add("LimitFSIZE", *limits.disk_mb * bytes_per_mb);
  // The keeper makes a control group for each task. It needs no controllers there.
  add("DelegateControllers", Texts{});
  add("LimitCORE", std::uint64_t{1});  // as confine/powers.cc sets it, which cannot raise a limit
  // A worker must not set log levels: its "<0>..." is not an emergency of the host.
  add("SyslogLevelPrefix", false);
  add("NoNewPrivileges", true);
  add("LockPersonality", true);
  add("RestrictRealtime", true);
  add("KeyringMode", std::string{"private"});
  return {unit_name(facts.id), std::move(properties)};
}

units::Unit cleanup_unit(const UnitFacts& facts) {
  return {"stile-spawner-cleanup@" + facts.id + ".service",
          {{"Description", "Remove what is left of worker " + facts.id},
           {"CollectMode", std::string{"inactive-or-failed"}},
           {"Type", std::string{"oneshot"}},
           {"ExecStart", removal(facts)}}};
}

}  // namespace stile::spawn
