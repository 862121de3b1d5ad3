// stile-fleet: joins this host to a fleet. Reads flags, then calls one function.
#include <CLI/CLI.hpp>
#include <iostream>

#include "fleet/serve.h"
#include "proxy/base/log.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"stile-fleet: hands the daemon the signed policy of a fleet of hosts"};
  stile::fleet::ServeOptions options;
  app.add_option("-c,--config", options.config,
                 "the config with [fleet] (default: /etc/stile/stile.toml)");
  app.add_option("--socket", options.socket,
                 "the daemon's control socket (default: $STILE_SOCKET, else the config's)");
  app.set_version_flag("--version", std::string{"stile-fleet " STILE_VERSION});
  app.footer("`stile fleet` publishes policy and shows all hosts.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    std::cerr << "stile-fleet: " << problem.what() << "\n  next: stile-fleet --help\n";
    return 2;
  }
  return stile::fleet::serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    stile::log::error(problem.what());
    return 1;
  }
}
