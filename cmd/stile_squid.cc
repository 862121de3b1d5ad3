// stile-squid: the daemon with squid's command line and squid.conf.
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "config/digest.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/server.h"
#include "proxy/server/version.h"
#include "squid/account.h"
#include "squid/command_line.h"
#include "squid/compile.h"
#include "squid/conf.h"
#include "squid/daemonize.h"
#include "squid/outcome_file.h"
#include "squid/pid_file.h"
#include "squid/running_copy.h"
#include "squid/send_action.h"

namespace {

using namespace stile;
using Action = squid::CommandLine::Action;

config::Checked<squid::Conf> read_conf(const std::string& file, config::Digest& digest) {
  return squid::parse(file, squid::disk_files(digest));
}

bool has_ipv6() {
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe >= 0) ::close(probe);
  return probe >= 0;
}

// `user`: fixed at the start, because a reload no longer runs as root and must use the same user.
config::Checked<control::Reading> read_all(const std::string& file, const std::string& user) {
  config::Digest digest;
  auto conf = read_conf(file, digest);
  if (!conf) return conf.error();
  auto compiled = squid::compile(std::move(*conf), digest.hex());
  if (!compiled) return compiled.error();
  auto& server = compiled->loaded.settings.server;
  if (server.user.empty()) server.user = user;
  for (auto& endpoint : server.listen) {
    if (endpoint.address == acl::Address::v6({}) && !has_ipv6())
      endpoint.address = acl::Address::v4(0);
  }
  auto shared = std::make_unique<config::SharedParts>(config::share(compiled->loaded));
  return control::Reading{std::move(compiled->loaded), std::move(shared), {compiled->policy}};
}

void tell(const squid::Conf& conf) {
  for (const auto& warning : conf.warnings.items()) log::warning(warning.text());
  for (const auto& note : conf.notes) log::info(note);
  log::info("what Stile adds to this squid.conf:");
  for (const auto& addition : squid::additions(conf)) log::info("  " + addition);
}

int serve(const std::string& file, bool is_foreground) {
  config::Digest unused;
  const auto conf = read_conf(file, unused);
  if (!conf) {
    std::cerr << conf.error().text();
    return 1;
  }
  const bool is_root = ::geteuid() == 0;
  if (auto group = squid::check_group(*conf); is_root && !group) {
    log::error(group.error().message);
    return 1;
  }
  const std::string user = is_root ? squid::account_of(*conf) : conf->user;
  if (const auto other = squid::RunningCopy::find(conf->pid_file, user)) {
    log::error("is already running as process " + std::to_string(other->pid()));
    return 1;
  }
  std::optional<squid::Background> background;
  if (!is_foreground) background = squid::Background::enter();
  tell(*conf);
  server::prepare_process();
  auto store = server::PolicyStore::open(
      [file, user](const config::FleetLayer&) { return read_all(file, user); });
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  std::optional<squid::OutcomeFile> outcomes;
  const auto report = [&](int signal, auto received, bool is_done, const std::string& text) {
    using About = squid::OutcomeFile::Action;
    outcomes->write(signal == SIGHUP ? About::reconfigure : About::rotate, received,
                    {is_done, text});
  };
  const auto folder = [](const std::filesystem::path& path) { return path.parent_path().string(); };
  // Before the pid file exists, so that no signal comes too early.
  server::Server daemon{std::move(*store),
                        {{folder(conf->pid_file), folder(conf->cache_log)}, report}};
  const auto pid_file = squid::PidFile::create(conf->pid_file);
  if (!pid_file) {
    log::error(pid_file.error().message);
    return 1;
  }
  if (auto created = squid::OutcomeFile::create(conf->pid_file)) {
    outcomes.emplace(std::move(*created));
  } else {
    log::error(created.error().message);
    return 1;
  }
  if (auto ready = daemon.prepare(); !ready) {
    log::error(ready.error().message);
    return 1;
  }
  if (background) background->ready(conf->cache_log);
  if (auto done = daemon.run(); !done) {
    log::error(done.error().message);
    return 1;
  }
  return 0;
}

int run(const squid::CommandLine& command) {
  if (command.action == Action::help) {
    std::cerr << squid::usage;
    return 1;
  }
  if (command.action == Action::version) {
    std::cout << "stile-squid " << server::version
              << ", reads the squid.conf of Squid Cache: Version 5.7\n";
    return 0;
  }
  if (command.action == Action::serve) return serve(command.file, command.is_foreground);
  config::Digest digest;
  auto conf = read_conf(command.file, digest);
  if (!conf) {
    std::cerr << conf.error().text();
    return 1;
  }
  if (command.action == Action::parse) {
    tell(*conf);
    const auto compiled = squid::compile(std::move(*conf), {});
    if (!compiled) std::cerr << compiled.error().text();
    return compiled ? 0 : 1;
  }
  if (command.action == Action::make_cache) return 0;
  const auto outcome = squid::send_action(command.action, *conf);
  if (!outcome.text.empty()) std::cerr << "stile-squid: " << outcome.text << "\n";
  return outcome.is_done ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto command = squid::parse_command_line(argc, argv);
  if (!command) {
    std::cerr << "stile-squid: " << command.error().message << "\n" << squid::usage;
    return 1;
  }
  try {
    return run(*command);
  } catch (const std::exception& problem) {
    log::error(problem.what());
    return 1;
  }
}
