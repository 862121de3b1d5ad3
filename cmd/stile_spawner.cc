// stile-spawner: starts workers as units of systemd, for callers that may not. Parses flags, then
// serves its socket.
#include <iostream>

#include "cmd/program.h"
#include "spawn/serve.h"

namespace {

int run(int argc, char** argv) {
  stile::spawn::SpawnerOptions options;
  bool is_check = false;
  CLI::App app{"stile-spawner: start sandboxed workers as units of systemd", "stile-spawner"};
  stile::use_help_text(app, "stile-spawner " STILE_VERSION);
  app.add_option("-c,--config", options.config,
                 "config file (default: " + std::string{stile::spawn::default_config} + ")")
      ->type_name("FILE");
  app.add_flag("--check", is_check, "check the config and exit");
  app.add_option("--socket", options.socket, "listen here if systemd passes no socket")
      ->type_name("PATH");
  app.add_option("--state", options.state, "keep the state of workers in this directory")
      ->type_name("DIRECTORY");
  app.add_option("--log", options.log, "write the audit log there; - is standard output")
      ->type_name("FILE");
  if (const auto status = stile::cmd::parse_flags(app, "stile-spawner", argc, argv)) return *status;
  const auto done = is_check ? stile::spawn::check(options) : stile::spawn::serve(options);
  if (done && is_check) {
    std::cout << options.config.value_or(stile::spawn::default_config) << " is fine\n";
  }
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
