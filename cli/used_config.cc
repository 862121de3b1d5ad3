// used_config: the config that an offline command assumes.
#include "cli/used_config.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/system_error.h"
#include "cli/command.h"
#include "cli/from_daemon.h"
#include "cli/read_logs.h"
#include "config/compile.h"
#include "config/embedded.h"

namespace stile::cli {

namespace {

CommandFailure cannot_use(const config::Diagnostics& problems) {
  auto text = problems.text();
  if (text.ends_with('\n')) text.pop_back();
  const bool is_hidden = ::geteuid() != 0 && text.find(error_text(EACCES)) != std::string::npos;
  return {failed, "config-error", std::move(text), is_hidden ? as_root() : ""};
}

CommandOutcome<UsedConfig> compile(config::Checked<config::Loaded> loaded) {
  if (!loaded) return cannot_use(loaded.error());
  auto shared = config::share(*loaded);
  auto policies = config::compile_all(*loaded, shared);
  if (!policies) return cannot_use(policies.error());
  std::string name = loaded->settings.file.empty() ? config::embedded_name : loaded->settings.file;
  return UsedConfig{std::move(name), std::move(*loaded),
                    std::make_shared<const acl::Snapshot>(1, std::move(*policies))};
}

}  // namespace

CommandOutcome<UsedConfig> config_of_text(const std::string& text, const std::string& name) {
  return compile(config::load_text(text, name));
}

CommandOutcome<UsedConfig> read_config(const std::optional<std::string>& path) {
  auto own = compile(config::load_or_default(path ? path : other_config_in_use()));
  if (own || path) return own;
  const auto given = read_daemon_config({});
  if (!given) return given.error().code == "config-error" ? given.error() : own.error();
  return config_of_text(given->text, given->file);
}

CommandOutcome<Seen> read_seen(const std::vector<std::string>& named,
                               const std::optional<UsedConfig>& config) {
  const auto logs = audit_logs(named, config);
  auto seen = logs ? read_logs(*logs) : logs.error();
  if (seen || !named.empty()) return seen;
  Seen given;
  const auto read =
      read_daemon_log({}, false, [&](std::string_view line) { given.add_line(line); });
  if (!read) return seen;
  return given;
}

CommandOutcome<std::vector<std::string>> audit_logs(const std::vector<std::string>& named,
                                                    const std::optional<UsedConfig>& config) {
  if (!named.empty()) return named;
  if (config && config->loaded.settings.audit.path != "-") {
    return std::vector{config->loaded.settings.audit.path};
  }
  return CommandFailure{failed, "no-log", "the config does not name a file for the audit log",
                        "journalctl -u stiled -o cat | " + typed_command() + " --audit -",
                        "if the log is in a file: " + typed_command() + " --audit FILE"};
}

}  // namespace stile::cli
