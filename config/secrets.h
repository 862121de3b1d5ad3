// Secrets: [[secret]] entries checked, compiled, and their values read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl/inside.h"
#include "config/capability.h"
#include "config/diagnostics.h"
#include "config/settings.h"

namespace stile::config {

// Errors in the entries themselves.
void check_secrets(const Settings& settings, Diagnostics& problems);

// The secrets of a config by name. Copies share the values.
class Secrets {
 public:
  struct Entry {
    SecretSettings settings;
    std::shared_ptr<const acl::Secret> secret;
    std::string file;  // that holds the value; "": none
  };

  Secrets() = default;
  // Without the values.
  explicit Secrets(const std::vector<SecretSettings>& settings);

  [[nodiscard]] const Entry* find(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Entry>& all() const noexcept { return entries_; }

  // Sets the value of a secret that does not come from a file.
  void set_value(const std::string& name, std::string_view value, std::int64_t now_us) const;
  // Reads the values of all others. `owner` is that of the config: see open_trusted.
  void read_values(uid_t owner, std::int64_t now_us, Diagnostics& problems) const;
  // Reads those that changed since. A value that cannot be read stays in force; returns why.
  [[nodiscard]] std::vector<std::string> refresh(uid_t owner, std::int64_t now_us) const;

 private:
  // The host's own secret with this value that a policy of the fleet would send elsewhere; null:
  // none.
  [[nodiscard]] const Entry* taken_from(const Entry& of_fleet, std::string_view value) const;

  std::map<std::string, Entry> entries_;
};

// What of an agent's entry sees inside TLS; null: nothing.
[[nodiscard]] std::shared_ptr<const acl::Inside> compile_inside(const AgentSettings& agent,
                                                                const Secrets& secrets,
                                                                CapabilityFiles& capabilities,
                                                                Diagnostics& problems);

}  // namespace stile::config
