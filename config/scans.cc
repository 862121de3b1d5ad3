// Scans: [[scan]] entries checked, and compiled for each agent that lists them.
#include "config/scans.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "base/quoted.h"

namespace stile::config {
namespace {

bool is_reserved(std::string_view name) { return name == "secrets" || name == "placeholders"; }

void check_scan(const ScanSettings& scan, Diagnostics& problems) {
  const auto error = [&](std::string problem, std::string hint = {}) {
    problems.error(scan.place, "scan", std::move(problem), std::move(hint));
  };
  if (scan.name.empty()) error("name is missing");
  if (is_reserved(scan.name)) {
    error(in_quotes(scan.name) + " are always looked for", "choose another name");
  }
  const bool is_built_in = scan::set_named(scan.name) != nullptr;
  if (is_built_in && !scan.pattern.empty()) {
    error(in_quotes(scan.name) + " is a built-in set, which has no pattern",
          "choose another name, or set only its action");
  }
  if (!is_built_in && scan.pattern.empty() && !scan.name.empty()) error("pattern is missing");
}

}  // namespace

void check_scans(const Settings& settings, Diagnostics& problems) {
  std::set<std::string> names;
  for (const auto& scan : settings.scan) {
    check_scan(scan, problems);
    if (!scan.name.empty() && !names.insert(scan.name).second) {
      problems.error(scan.place, "scan.name", in_quotes(scan.name) + " is taken");
    }
  }
}

Result<std::shared_ptr<const scan::ScanRules>> Scans::rules(const std::vector<std::string>& names) {
  if (const auto found = compiled_.find(names); found != compiled_.end()) {
    if (auto alive = found->second.lock()) return alive;
  }
  std::vector<scan::Scan> scans;
  for (const auto& name : names) {
    const auto entry = std::find_if(settings_.begin(), settings_.end(),
                                    [&](const ScanSettings& one) { return one.name == name; });
    if (entry == settings_.end() && scan::set_named(name) == nullptr) {
      std::vector<std::string_view> known{"tokens", "private-keys", "payment", "wallets"};
      for (const auto& one : settings_) known.push_back(one.name);
      const auto meant = nearest(name, known);
      return Error{"there is no [[scan]] and no built-in set named " + in_quotes(name) +
                   (meant.empty() ? "" : "; did you mean " + std::string{meant} + '?')};
    }
    scan::Scan scan{name, {}, scan::ScanAction::refuse};
    if (entry != settings_.end()) {
      scan.pattern = entry->pattern;
      if (entry->only_logs) scan.action = scan::ScanAction::log;
    }
    scans.push_back(std::move(scan));
  }
  auto made = scan::ScanRules::compile(std::move(scans));
  if (made) compiled_[names] = *made;
  return made;
}

std::shared_ptr<const scan::Watch> Scans::watch(const AgentSettings& agent,
                                                const std::vector<std::string>& names,
                                                const Secrets& secrets, Diagnostics& problems) {
  if (names.empty() && secrets.all().empty()) return nullptr;
  const auto made = rules(names);
  if (!made) {
    const bool is_own = agent.scan.has_value();
    problems.error(is_own ? place_of(agent.place.file, agent.keys, "agent", "scan") : agent.place,
                   is_own ? "agent.scan" : "egress.scan", made.error().message);
    return nullptr;
  }
  std::vector<std::shared_ptr<const acl::Secret>> values;
  for (const auto& [name, entry] : secrets.all()) values.push_back(entry.secret);
  std::vector<std::string> placeholders;
  for (const auto& name : agent.secrets) {
    if (const auto* entry = secrets.find(name)) {
      placeholders.push_back(acl::placeholder_of(agent.id, *entry->secret));
    }
  }
  return std::make_shared<const scan::Watch>(*made, std::move(values), std::move(placeholders));
}

}  // namespace stile::config
