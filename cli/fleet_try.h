// fleet_try: `stile fleet publish --try`.
#pragma once

#include <chrono>
#include <string>

#include "fleet/publish.h"

namespace stile::cli {

struct TryOptions {
  std::chrono::milliseconds patience{};
  bool json = false;
};

// Shows the candidate to all hosts that it is for, and prints what each of them found. Returns the
// exit status: 1 if a host would newly refuse something, or did not answer.
[[nodiscard]] int try_on_fleet(fleet::Cluster& cluster, const std::string& name,
                               fleet::Envelope candidate, const std::string& private_pem,
                               const TryOptions& options);

}  // namespace stile::cli
