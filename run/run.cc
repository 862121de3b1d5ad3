// run: one command with a fence around it, from the first namespace to the summary.
#include "run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string_view>

#include "netns/keep.h"
#include "netns/supervise.h"
#include "proxy/server/privileges.h"
#include "run/bwrap.h"
#include "run/daemon.h"
#include "run/environment.h"
#include "run/jail.h"
#include "run/proxy.h"
#include "run/summary.h"
#include "run/terminal.h"

namespace stile::run {
namespace {

int fail(std::string_view message) {
  if (!message.empty()) {
    std::fprintf(stderr, "stile: %.*s\n", static_cast<int>(message.size()), message.data());
  }
  return netns::own_failure;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& variable : environment) {
    if (variable.starts_with(name) && variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

Result<Plan> make_plan(const Options& options) {
  std::error_code failed;
  Plan plan;
  plan.directory = std::filesystem::current_path(failed).string();
  if (failed) return Error{"the working directory cannot be told: " + failed.message()};
  plan.identity = choose_identity();
  const auto environment = own_environment();
  auto hidden = choose_hidden(options, environment, plan.directory);
  if (!hidden) return hidden.error();
  plan.hidden = std::move(*hidden);
  plan.environment = command_environment(environment, plan.hidden.exposed, plan.identity);
  plan.command = options.command;
  plan.has_bwrap = options.bwrap;
  if (options.bwrap) {
    auto line = bwrap_command(options.command, plan.hidden, plan.directory,
                              value_of(plan.environment, "HOME"));
    if (!line) return line.error();
    plan.command = std::move(*line);
  }
  return plan;
}

// Root in a directory of somebody else: a link that an earlier command left in the place of the log
// would have us write to any file of the host, in part what the command likes.
Result<void> check_log(const Options& options) {
  const bool is_file =
      options.audit && *options.audit != "-" && !options.audit->starts_with("/dev/");
  if (!is_file || ::geteuid() != 0) return {};
  return netns::refuse_links(*options.audit, "cannot log to");
}

// What the process outside does not need for the rest of its life, root above all. What the
// command sends is read here.
Result<void> give_up_powers(const Identity& identity) {
  server::prepare_process();
  if (auto done = assume(identity); !done) return done;
  return server::drop_privileges("");
}

// A closed one would be the number of the next thing that is opened, and the command inherits it.
bool keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

Result<std::unique_ptr<Service>> open_service(Policy policy, const Options& options,
                                              Summary& summary) {
  const auto as_service = [](auto opened) -> Result<std::unique_ptr<Service>> {
    if (!opened) return opened.error();
    return std::unique_ptr<Service>{std::move(*opened)};
  };
  return options.connect ? as_service(Daemon::open(options, summary))
                         : as_service(Proxy::open(std::move(policy), options, summary));
}

}  // namespace

int run(const Options& options) {
  if (!keep_standard_descriptors()) return netns::own_failure;  // and nowhere to say so
  auto policy = make_policy(options);
  if (!policy) {
    std::fputs(policy.error().text().c_str(), stderr);
    return netns::own_failure;
  }
  if (auto fine = check_log(options); !fine) return fail(fine.error().message);
  Summary summary;
  auto service = open_service(std::move(*policy), options, summary);
  if (!service) return fail(service.error().message);
  auto plan = make_plan(options);
  if (!plan) return fail(plan.error().message);
  plan->mask = netns::block_signals();
  const Terminal terminal;
  auto jail = Jail::make(*plan);
  if (!jail) return fail(jail.error().message);
  auto ready = give_up_powers(plan->identity);
  if (ready) ready = (*service)->serve(jail->take_listener());
  if (!ready) {
    jail->abandon();
    return fail(ready.error().message);
  }
  // It has ended if this fails, and its status tells of it.
  static_cast<void>(jail->start());
  const int status = netns::supervise({jail->first_process(), {}, [&] { (*service)->tick(); }});
  (*service)->stop();
  std::fputs(summary.text().c_str(), stderr);
  return status;
}

}  // namespace stile::run
