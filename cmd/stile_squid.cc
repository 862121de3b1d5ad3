// stile-squid: the daemon with squid's command line and squid.conf.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "acl/error_text.h"
#include "config/accounts.h"
#include "config/digest.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/server.h"
#include "proxy/server/version.h"
#include "squid/command_line.h"
#include "squid/compile.h"
#include "squid/conf.h"
#include "squid/daemonize.h"
#include "squid/pid_file.h"

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

// Whom to become when started as root. squid has a user built in; this is the one that is there.
std::string default_user() {
  for (const char* name : {"proxy", "squid", "nobody"}) {
    if (config::find_user(name)) return name;
  }
  return {};
}

Result<void> check_group(const squid::Conf& conf) {
  if (conf.group.empty() || ::geteuid() != 0) return {};
  const auto named = config::find_group(conf.group);
  const auto user = config::find_user(conf.user);
  if (named && user && user->group == *named) return {};
  return Error{"cache_effective_group " + conf.group + ": is not the group of the user " +
               conf.user};
}

config::Checked<server::Reading> read_all(const std::string& file) {
  config::Digest digest;
  auto conf = read_conf(file, digest);
  if (!conf) return conf.error();
  auto compiled = squid::compile(std::move(*conf), digest.finish());
  if (!compiled) return compiled.error();
  auto& server = compiled->loaded.settings.server;
  if (server.user.empty() && ::geteuid() == 0) server.user = default_user();
  for (auto& endpoint : server.listen) {
    if (endpoint.address == acl::Address::v6({}) && !has_ipv6())
      endpoint.address = acl::Address::v4(0);
  }
  auto shared = std::make_unique<config::Shared>(config::share(compiled->loaded));
  return server::Reading{std::move(compiled->loaded), std::move(shared), {compiled->policy}};
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
  if (auto group = check_group(*conf); !group) {
    log::error(group.error().message);
    return 1;
  }
  if (const auto other = squid::running_copy(conf->pid_file); other && *other != ::getpid()) {
    log::error("is already running as process " + std::to_string(*other));
    return 1;
  }
  std::optional<squid::Background> background;
  if (!is_foreground) background = squid::Background::enter();
  tell(*conf);
  server::prepare_process();
  auto store = server::PolicyStore::open([file] { return read_all(file); });
  if (!store) {
    std::cerr << store.error().text();
    return 1;
  }
  const auto folder = [](const std::filesystem::path& path) { return path.parent_path().string(); };
  server::Server daemon{std::move(*store), {folder(conf->pid_file), folder(conf->cache_log)}};
  const auto pid_file = squid::PidFile::create(conf->pid_file);
  if (!pid_file) {
    log::error(pid_file.error().message);
    return 1;
  }
  if (auto ready = daemon.prepare(); !ready) {
    log::error(ready.error().message);
    return 1;
  }
  if (background) background->ready(conf->cache_log);
  daemon.run();
  return 0;
}

// The daemon drains at the first SIGINT and ends at the second; squid ends at the first.
void interrupt(pid_t pid) {
  using namespace std::chrono_literals;
  for (int i = 0; i < 100 && ::kill(pid, SIGINT) == 0; ++i) std::this_thread::sleep_for(50ms);
}

int send(Action action, const squid::Conf& conf) {
  const auto pid = squid::running_copy(conf.pid_file);
  if (!pid) {
    std::cerr << "stile-squid: " << pid.error().message << "\n";
    return 1;
  }
  const int signal = action == Action::check         ? 0
                     : action == Action::reconfigure ? SIGHUP
                     : action == Action::rotate      ? SIGUSR1
                     : action == Action::interrupt   ? SIGINT
                     : action == Action::kill        ? SIGKILL
                                                     : SIGTERM;
  if (::kill(*pid, signal) != 0) {
    std::cerr << "stile-squid: process " << *pid << ": " << error_text(errno) << "\n";
    return 1;
  }
  if (action == Action::interrupt) interrupt(*pid);
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
  return command.action == Action::make_cache ? 0 : send(command.action, *conf);
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
