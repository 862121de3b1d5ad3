// fleet_grant: all grants of a fleet are one signed policy, `grants`; each ends by itself.
#include "cli/fleet_grant.h"

#include <iostream>

#include "base/json.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/units.h"
#include "cli/command.h"
#include "config/json_loader.h"
#include "config/load.h"
#include "fleet/canonical.h"
#include "fleet/publish.h"
#include "fleet/settings.h"

namespace stile::cli {
namespace {

constexpr const char* object_name = "policy/grants";
constexpr UnixMicros day_us = 86'400'000'000, longest_grant = 90 * day_us,
                     clock_margin = 300'000'000;

int grant_failure(const std::string& message) {
  const bool has_advice = message.find("  next: ") != std::string::npos;
  std::cerr << "stile allow: " << message << (has_advice ? "\n" : "\n  next: stile fleet status\n");
  return failed;
}

// What is there, without what has ended, and the new one.
Result<std::string> body_with(const fleet::Overview::Object* current,
                              const FleetGrantOptions& options, UnixMicros now, UnixMicros end) {
  std::string text;
  {
    JsonObject object{text};
    JsonArray grants{object.key("grant")};
    if (current != nullptr && current->envelope && current->problem.empty()) {
      const Json body = Json::parse(current->envelope->body);
      for (const auto& grant : list_of(body, "grant")) {
        const auto expires = parse_time(text_of(grant, "expires"));
        if (expires && *expires > now) grants.next() += dump(grant);
      }
    }
    JsonObject added{grants.next()};
    added.add("agent", options.agent).add("hosts", options.hosts);
    added.add("expires", time_text(end));
  }
  const auto document = config::parse_json(text, object_name);
  if (!document) return Error{document.error().text()};
  return fleet::canonical_text(*document);
}

}  // namespace

int grant_on_fleet(const FleetGrantOptions& options) {
  auto settings =
      fleet::read_settings(options.config.empty() ? config::default_path : options.config);
  if (!settings) return grant_failure(settings.error().message);
  auto cluster = fleet::Cluster::open(std::move(*settings));
  if (!cluster) return grant_failure(cluster.error().message);
  const auto signers = fleet::read_signers(cluster->settings);
  if (!signers) return grant_failure(signers.error().message);
  const auto key = fleet::read_signing_key(options.key);
  if (!key) return grant_failure(key.error().message);
  const auto overview = fleet::look(*cluster, *signers);
  if (!overview) return grant_failure(overview.error().message);
  const auto found = overview->objects.find(object_name);
  const auto* current = found == overview->objects.end() ? nullptr : &found->second;
  const auto now = unix_micros() / 1'000'000 * 1'000'000;
  UnixMicros end = now + longest_grant;
  if (const auto time = parse_duration(options.duration)) {
    end = std::min(end, now + std::chrono::microseconds{*time}.count());
  }
  auto body = body_with(current, options, now, end);
  if (!body) return grant_failure(body.error().message);
  fleet::Draft draft;
  draft.name = object_name;
  draft.envelope.not_before = now - clock_margin;
  draft.envelope.not_after = now + longest_grant;
  draft.envelope.body = std::move(*body);
  draft.revision = current == nullptr ? 0 : current->mod_revision;
  const auto written = fleet::publish(*cluster, std::move(draft), *key);
  if (!written) return grant_failure(written.error().message);
  if (options.json)
    return print_json({{"ok", true}, {"name", object_name}, {"serial", written->serial}});
  std::cout << printable(options.agent) << " may reach";
  for (const auto& host : options.hosts) std::cout << ' ' << printable(host);
  std::cout << " on all hosts of the fleet until " << time_text(end)
            << "\n  a deny rule of a host wins over it; see: stile fleet status\n";
  return fine;
}

}  // namespace stile::cli
