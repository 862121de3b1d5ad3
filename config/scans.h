// Scans: [[scan]] entries checked, and compiled for each agent that lists them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/secrets.h"
#include "config/settings.h"
#include "scan/watch.h"

namespace stile::config {

// Errors in the entries themselves.
void check_scans(const Settings& settings, Diagnostics& problems);

// The scans of a config. Agents with the same list share the compiled one.
class Scans {
 public:
  Scans() = default;
  explicit Scans(std::vector<ScanSettings> settings) : settings_{std::move(settings)} {}

  // What is looked for in an agent's requests: the scans of the list, the values of all secrets
  // and the placeholders that the agent has. Null: nothing.
  [[nodiscard]] std::shared_ptr<const scan::Watch> watch(const AgentSettings& agent,
                                                         const std::vector<std::string>& names,
                                                         const Secrets& secrets,
                                                         Diagnostics& problems);

 private:
  [[nodiscard]] Result<std::shared_ptr<const scan::ScanRules>> rules(
      const std::vector<std::string>& names);

  std::vector<ScanSettings> settings_;
  std::map<std::vector<std::string>, std::weak_ptr<const scan::ScanRules>> compiled_;
};

}  // namespace stile::config
