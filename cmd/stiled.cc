// stiled: the daemon. Reads flags, then calls one function.
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cmd/program.h"
#include "config/check_config.h"
#include "proxy/base/log.h"
#include "proxy/server/keeper.h"
#include "proxy/server/privileges.h"
#include "proxy/server/rendezvous.h"
#include "proxy/server/server.h"
#include "proxy/server/service_unit.h"
#include "proxy/server/upgrade.h"
#include "proxy/server/version.h"

namespace {

using stile::server::Predecessor;

struct Start {
  std::optional<std::string> config;
  bool as_service = false;  // systemd watches a process beside the daemon
  bool take_over = false;
  std::function<void()> is_serving{};
};

stile::Result<std::unique_ptr<Predecessor>> find_running(const std::string& control,
                                                         pid_t watched) {
  auto found = Predecessor::find(control, watched);
  if (found && !*found) {
    return stile::Error{"no daemon at " + control +
                        " to take over from; start stiled without --take-over"};
  }
  return found;
}

int serve(Start start) {
  using namespace stile;
  server::Keeper keeper;
  server::HandoverLink rendezvous;
  if (start.as_service) {
    if (!start.take_over) {
      rendezvous = server::take_rendezvous();
      // What a daemon before this one has left, and does not hand over.
      if (!rendezvous) server::end_others();
    }
    auto kept = server::Keeper::start();
    if (!kept) {
      log::error(kept.error().message);
      return 1;
    }
    keeper = std::move(*kept);
  }
  server::prepare_process();
  auto store = server::PolicyStore::open(start.config);
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  Result<std::unique_ptr<Predecessor>> predecessor{std::unique_ptr<Predecessor>{}};
  if (start.take_over) {
    predecessor = find_running(store->base->loaded.settings.server.control, keeper.process());
  } else if (rendezvous) {
    predecessor = Predecessor::meet(rendezvous);
    rendezvous.close();
  }
  if (!predecessor) {
    log::error(predecessor.error().message);
    return 1;
  }
  server::Server daemon{std::move(*store),
                        {{}, {}, std::move(start.is_serving), std::move(keeper)},
                        std::move(*predecessor)};
  if (auto ready = daemon.prepare(); !ready) {
    log::error(ready.error().message);
    return 1;
  }
  if (auto done = daemon.run(); !done) {
    log::error(done.error().message);
    return 1;
  }
  return 0;
}

int reload(const std::optional<std::string>& path, bool as_service) {
  using namespace stile;
  const auto store = server::PolicyStore::open(path);
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  return server::reload(store->base->loaded.settings.server.control,
                        [&](const std::function<void()>& is_serving) {
                          return serve({path, as_service, true, is_serving});
                        });
}

int run(int argc, char** argv) {
  CLI::App app{"stiled: run the proxy through which each agent reaches only the hosts it may"};
  stile::use_help_text(app, std::string{"stiled "} + stile::server::version);
  std::string path;
  bool check = false, take_over = false, again = false, as_service = false, is_over = false;
  auto* config = app.add_option("-c,--config", path,
                                "config file (default: /etc/stile/stile.toml, else built in)")
                     ->type_name("FILE");
  app.add_flag("--check", check, "check the config, print its errors or a summary, and exit");
  app.add_flag("--take-over", take_over,
               "take over from the running daemon: its listeners and open tunnels go on here");
  app.add_flag("--reload", again,
               "have the running daemon use the config and the program that are on disk now");
  app.add_flag("--service", as_service,
               "run as a service of systemd: open tunnels go on over systemctl restart");
  app.add_flag("--service-stopped", is_over,
               "end what is left of the service of systemd, for its ExecStopPost=");
  app.footer("Signals: HUP reloads, USR1 reopens the audit log, TERM drains, TERM again ends.");
  if (const auto status = stile::cmd::parse_flags(app, "stiled", argc, argv)) return *status;
  auto named = config->count() > 0 ? std::optional{path} : std::nullopt;
  as_service = as_service && stile::server::is_command_of_service();
  if (is_over) {
    if (stile::server::is_command_of_service()) stile::server::end_left_over();
    return 0;
  }
  if (check) return stile::config::check(named, std::cout, std::cerr);
  // `stile` reads the same file, from another directory.
  if (named) named = std::filesystem::absolute(*named).string();
  if (again) return reload(named, as_service);
  return serve({named, as_service, take_over});
}

}  // namespace

int main(int argc, char** argv) {
  return stile::cmd::run_program(argc, argv, run, [](const char* why) { stile::log::error(why); });
}
