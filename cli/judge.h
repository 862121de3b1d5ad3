// Judge: decides a request by a config, by the running daemon, or by the log itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "acl/decision.h"
#include "acl/policy.h"
#include "cli/control_client.h"
#include "cli/seen.h"

namespace stile::cli {

struct Judgement {
  acl::Verdict verdict = acl::Verdict::deny;
  std::string reason;  // code; empty for a plain allow
  std::string rule;
  [[nodiscard]] bool passes() const noexcept { return verdict != acl::Verdict::deny; }
  [[nodiscard]] std::string text() const;  // "allow", "deny host-not-allowed"
};

// Steps 1 to 6 only: limits, DNS and TLS depend on the moment, not on the policy.
struct Judge {
  std::string name;  // for people
  std::function<CommandOutcome<Judgement>(const SeenTarget&, const SeenOutcome&)> judge;
};

[[nodiscard]] Judge judge_of_config(std::string name,
                                    std::shared_ptr<const acl::Snapshot> policies);
[[nodiscard]] Judge judge_of_daemon(std::shared_ptr<control::ControlClient> client);
[[nodiscard]] Judge judge_of_log();

}  // namespace stile::cli
