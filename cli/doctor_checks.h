// doctor_checks: the checks of `stile doctor`, one finding each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/control_command.h"
#include "cli/used_config.h"

namespace stile::cli {

enum class FindingState : std::uint8_t { good, unsure, wrong };

struct Finding {
  std::string subject;  // "dns"
  FindingState state = FindingState::good;
  std::string detail;  // what was found
  std::string next;    // what to type; empty: nothing
};
using Findings = std::vector<Finding>;

void check_config(const std::optional<std::string>& file, Findings& findings,
                  std::optional<UsedConfig>& config);
// The daemon's status, if it answers.
[[nodiscard]] Json check_daemon(const ControlOptions& options, Findings& findings);
void check_listeners(const config::Settings& settings, Findings& findings);
void check_dns(const config::Settings& settings, Findings& findings);
void check_audit(const config::Settings& settings, const Json& status, Findings& findings);
void check_fleet(const Json& status, Findings& findings);
void check_disk(const config::Settings& settings, Findings& findings);
void check_clock(const config::Settings& settings, Findings& findings);
void check_permissions(const config::Settings& settings, Findings& findings);
void check_fence(Findings& findings);

}  // namespace stile::cli
