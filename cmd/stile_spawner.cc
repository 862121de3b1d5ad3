// stile-spawner: starts workers as units of systemd, for callers that may not. Parses flags, then
// serves its socket.
#include <iostream>

#include "cmd/program.h"
#include "spawn/serve.h"

namespace {

int run(int argc, char** argv) {
  stile::spawn::SpawnerOptions options;
  bool is_check = false;
  CLI::App app{"Start sandboxed workers as units of systemd.", "stile-spawner"};
  app.add_option("-c,--config", options.config,
                 "config file (default: " + std::string{stile::spawn::default_config} + ")")
      ->type_name("FILE");
  app.add_flag("--check", is_check, "check the config and exit");
  app.add_option("--socket", options.socket, "listen here if systemd passes no socket")
      ->type_name("PATH");
  app.add_option("--state", options.state, "directory for what is known about workers")
      ->type_name("DIRECTORY");
  app.add_option("--log", options.log, "audit log (-: stdout)")->type_name("FILE");
  app.set_version_flag("--version", "stile-spawner " STILE_VERSION);
  if (const auto status = stile::cmd::parse_flags(app, "stile-spawner", argc, argv)) return *status;
  const auto done = is_check ? stile::spawn::check(options) : stile::spawn::serve(options);
  if (done) return 0;
  std::cerr << "stile-spawner: " << done.error().message
            << (done.error().message.ends_with('\n') ? "" : "\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return stile::cmd::run_program(
      argc, argv, run, [](const char* why) { std::cerr << "stile-spawner: " << why << '\n'; });
}
