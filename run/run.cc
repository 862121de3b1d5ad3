// run: runs one command behind a fence, from the first namespace to the summary.
#include "run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "confine/supervise.h"
#include "proxy/server/privileges.h"
#include "run/attempts.h"
#include "run/control_socket.h"
#include "run/daemon.h"
#include "run/files.h"
#include "run/jail.h"
#include "run/live_lines.h"
#include "run/proxy.h"
#include "run/summary.h"
#include "run/terminal.h"

namespace stile::run {
namespace {

int fail(std::string_view message) {
  if (!message.empty()) {
    std::fprintf(stderr, "stile: %.*s\n", static_cast<int>(message.size()), message.data());
  }
  return confine::own_failure;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

Result<Plan> make_plan(const Options& options, const std::string& control) {
  Plan plan;
  plan.identity = choose_identity();
  auto files = choose_files(options, plan.identity, own_environment(), control);
  if (!files) return files.error();
  plan.files = std::move(*files);
  plan.command = options.command;
  const auto& name = options.command[0];
  plan.was_found = name.find('/') != std::string::npos && ::access(name.c_str(), F_OK) == 0;
  return plan;
}

// Drops all privileges that the process outside no longer needs, above all root. This process
// parses what the command sends.
Result<void> give_up_powers(const Identity& identity) {
  server::prepare_process();
  if (auto done = assume(identity); !done) return done;
  return server::drop_privileges("");
}

// If one is closed, the next opened file gets its number, and the command would inherit it.
bool keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

Result<std::unique_ptr<Service>> open_service(Policy policy, const Options& options,
                                              UniqueFd control, Summary& summary) {
  const auto as_service = [](auto opened) -> Result<std::unique_ptr<Service>> {
    if (!opened) return opened.error();
    return std::unique_ptr<Service>{std::move(*opened)};
  };
  return options.connect
             ? as_service(Daemon::open(options, summary))
             : as_service(Proxy::open(std::move(policy), options, std::move(control), summary));
}

// How to allow more from another terminal. A daemon's socket is named only if it needs no quotes.
Summary::Grant grant_command(const Options& options, const std::string& agent,
                             const ControlSocket& control) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,";
  const auto command = "stile allow " + agent + ' ';
  if (options.connect) {
    const bool is_plain = options.connect->find_first_not_of(plain) == std::string::npos;
    return {command, is_plain ? " --socket " + *options.connect : std::string{}};
  }
  if (control.path().empty()) return {};
  return {command, control.selector()};
}

// A program without proxy support cannot connect, and usually does not say why.
void tell_of_attempts(int status, const Summary& summary, const Attempts& attempts) {
  if (status == 0 || summary.requests() > 0) return;
  const auto count = attempts.count();
  if (count == 0) return;
  std::fprintf(stderr,
               "stile: no request reached the proxy, but the command tried %s to resolve a name or"
               " to connect by itself. Inside there is no DNS and no route: a program has to use"
               " $HTTPS_PROXY, and this one may not know it (see docs/run.md)\n",
               count == 1 ? "once" : (std::to_string(count) + " times").c_str());
}

}  // namespace

int run(const Options& options) {
  if (!keep_standard_descriptors()) return confine::own_failure;  // stderr may be closed
  auto policy = make_policy(options);
  if (!policy) {
    std::fputs(policy.error().text().c_str(), stderr);
    return confine::own_failure;
  }
  LiveLines live;
  Summary summary;
  ControlSocket control = options.connect ? ControlSocket{} : ControlSocket{choose_identity()};
  auto service = open_service(std::move(*policy), options, control.take(), summary);
  if (!service) return fail(service.error().message);
  summary.set_live([&](std::string line) { live.tell(std::move(line)); },
                   grant_command(options, (*service)->agent(), control));
  auto plan = make_plan(options, control.folder());
  if (!plan) return fail(plan.error().message);
  if (const auto notice = files_notice(plan->files.view.view); !notice.empty()) {
    std::fprintf(stderr, "stile: %s\n", notice.c_str());
  }
  plan->mask = confine::block_signals();
  const Terminal terminal;
  auto jail = Jail::make(*plan);
  if (!jail) return fail(jail.error().message);
  const Attempts attempts{jail->first_process()};
  auto ready = give_up_powers(plan->identity);
  if (ready) ready = (*service)->serve(jail->take_listener());
  if (!ready) {
    jail->abandon();
    return fail(ready.error().message);
  }
  live.start();
  // If this fails, the process has ended, and its status shows why.
  static_cast<void>(jail->start());
  const int status = confine::supervise({jail->first_process(), [&] { (*service)->tick(); }});
  (*service)->stop();
  live.stop();
  std::fputs(summary.text().c_str(), stderr);
  tell_of_attempts(status, summary, attempts);
  if (!(*service)->is_log_in_place()) {
    return fail(*options.audit +
                " is not the file that was logged to: it, or a directory above it," +
                " was replaced during the run; do not trust what it says");
  }
  return status;
}

}  // namespace stile::run
