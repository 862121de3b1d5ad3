// The config that an offline command takes for granted.
#include "cli/used_config.h"

#include <utility>

#include "cli/command.h"
#include "config/compile.h"

namespace stile::cli {

Outcome<UsedConfig> read_config(const std::optional<std::string>& path) {
  const auto cannot_use = [](const config::Diagnostics& problems) {
    auto text = problems.text();
    if (text.ends_with('\n')) text.pop_back();
    return Failure{failed, "config-error", std::move(text), {}};
  };
  auto loaded = config::load_or_default(path);
  if (!loaded) return cannot_use(loaded.error());
  auto shared = config::share(*loaded);
  auto policies = config::compile_all(*loaded, shared);
  if (!policies) return cannot_use(policies.error());
  std::string name = loaded->settings.file.empty() ? "embedded default" : loaded->settings.file;
  return UsedConfig{std::move(name), std::move(*loaded),
                    std::make_shared<const acl::Snapshot>(1, std::move(*policies))};
}

Outcome<std::vector<std::string>> audit_logs(const std::vector<std::string>& named,
                                             const std::optional<UsedConfig>& config) {
  if (!named.empty()) return named;
  if (config && config->loaded.settings.audit.path != "-") {
    return std::vector{config->loaded.settings.audit.path};
  }
  return Failure{failed, "no-log", "it is not known where the audit log is",
                 "say so: --audit FILE   (for a log in the journal: journalctl -u stiled -o cat | "
                 "stile suggest --audit -)"};
}

}  // namespace stile::cli
