// stile ca: the certificates that clients of opened hosts have to trust.
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <memory>

#include "base/files.h"
#include "base/system_error.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/used_config.h"

namespace stile::cli {
namespace {

struct CaOptions {
  std::optional<std::string> config;
};

int run_ca(const CaOptions& options) {
  const auto config = read_config(options.config);
  if (!config) return report(config.error(), {});
  const auto& directory = config->loaded.settings.intercept.ca;
  if (directory.empty()) {
    return report({failed,
                   {},
                   "[intercept] ca is \"\": the CA is only in the daemon's memory",
                   {},
                   "name a directory there, then restart the daemon"},
                  {});
  }
  // The one in use, its successor and its predecessor, as far as they exist.
  std::string all;
  for (const auto* name : {"/ca.pem", "/next.pem", "/old.pem"}) {
    all += read_or_empty(directory + name);
  }
  if (all.empty() && ::access(directory.c_str(), R_OK | X_OK) != 0 && errno == EACCES) {
    return report({failed, {}, "cannot read " + directory + ": " + error_text(EACCES), as_root()},
                  {});
  }
  if (all.empty()) {
    return report({failed,
                   {},
                   "there is no certificate in " + directory,
                   {},
                   "the daemon makes it when an agent has a `request` or `can` entry or a secret"},
                  {});
  }
  std::cout << all;
  return fine;
}

}  // namespace

void add_ca(Command& stile) {
  auto options = std::make_shared<CaOptions>();
  auto command = stile.add("ca", "print the certificates that agents with opened hosts must trust");
  command.word("FILE", options->config, "the config (default: the daemon's)");
  command.examples("Example:\n  stile ca > stile-ca.pem");
  command.does([options] { return run_ca(*options); });
}

}  // namespace stile::cli
