// stiled: the daemon. Reads flags, then calls one function.
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cmd/program.h"
#include "config/check_config.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/server.h"
#include "proxy/server/upgrade.h"
#include "proxy/server/version.h"

namespace {

int serve(const std::optional<std::string>& path, bool take_over,
          std::function<void()> is_serving = {}) {
  using namespace stile;
  server::prepare_process();
  auto store = server::PolicyStore::open(path);
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  std::unique_ptr<server::Predecessor> predecessor;
  if (take_over) {
    const std::string& control = store->base->loaded.settings.server.control;
    auto found = server::Predecessor::find(control);
    if (!found) {
      log::error(found.error().message);
      return 1;
    }
    if (!*found) {
      log::error("no daemon at " + control +
                 " to take over from; start stiled without --take-over");
      return 1;
    }
    predecessor = std::move(*found);
  }
  server::Server daemon{std::move(*store), {{}, {}, std::move(is_serving)}, std::move(predecessor)};
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

int reload(const std::optional<std::string>& path) {
  using namespace stile;
  const auto store = server::PolicyStore::open(path);
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  return server::reload(
      store->base->loaded.settings.server.control,
      [&](const std::function<void()>& is_serving) { return serve(path, true, is_serving); });
}

int run(int argc, char** argv) {
  CLI::App app{"stiled: a proxy through which each agent reaches only the hosts it may"};
  std::string path;
  bool check = false, take_over = false, again = false;
  auto* config = app.add_option("-c,--config", path,
                                "config file (default: /etc/stile/stile.toml, else built in)")
                     ->type_name("FILE");
  app.add_flag("--check", check, "check the config, print its errors or a summary, and exit");
  app.add_flag("--take-over", take_over,
               "take over from the running daemon: its listeners and open tunnels go on here");
  app.add_flag("--reload", again,
               "have the running daemon use the config and the program that are on disk now");
  app.set_version_flag("--version", std::string{"stiled "} + stile::server::version);
  app.footer("Signals: HUP reloads, USR1 reopens the audit log, TERM drains, TERM again ends.");
  // `stiled help` and `stiled version`, as in `stile`.
  const std::string first = argc > 1 ? argv[1] : "";
  std::string as_option = "--" + first;
  if (first == "help" || first == "version") argv[1] = as_option.data();
  if (const auto status = stile::cmd::parse_flags(app, "stiled", argc, argv)) return *status;
  const auto named = config->count() > 0 ? std::optional{path} : std::nullopt;
  if (again) return reload(named);
  return check ? stile::config::check(named, std::cout, std::cerr) : serve(named, take_over);
}

}  // namespace

int main(int argc, char** argv) {
  return stile::cmd::run_program(argc, argv, run, [](const char* why) { stile::log::error(why); });
}
