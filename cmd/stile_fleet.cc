// stile-fleet: joins this host to a fleet. Reads flags, then calls one function.
#include "cmd/program.h"
#include "fleet/serve.h"
#include "proxy/base/log.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"stile-fleet: hand the daemon the signed policy of a fleet of hosts"};
  stile::use_help_text(app, "stile-fleet " STILE_VERSION);
  stile::fleet::ServeOptions options;
  app.add_option("-c,--config", options.config,
                 "the config with [fleet] (default: /etc/stile/stile.toml)")
      ->type_name("FILE");
  app.add_option("--socket", options.socket,
                 "the daemon's control socket (default: $STILE_SOCKET, else the config's)")
      ->type_name("PATH");
  app.footer("`stile fleet` publishes policy and shows all hosts.");
  if (const auto status = stile::cmd::parse_flags(app, "stile-fleet", argc, argv)) return *status;
  return stile::fleet::serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  return stile::cmd::run_program(argc, argv, run, [](const char* why) { stile::log::error(why); });
}
