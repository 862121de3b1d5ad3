// run: runs one command behind a fence, from the first namespace to the summary.
#include "run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/quoted.h"
#include "base/terminal.h"
#include "confine/supervise.h"
#include "confine/survey.h"
#include "proxy/server/privileges.h"
#include "run/attempts.h"
#include "run/control_socket.h"
#include "run/daemon.h"
#include "run/files.h"
#include "run/jail.h"
#include "run/launch.h"
#include "run/limits.h"
#include "run/live_lines.h"
#include "run/plan_text.h"
#include "run/ports.h"
#include "run/proxy.h"
#include "run/standard_streams.h"
#include "run/summary.h"
#include "run/terminal.h"
#include "run/terminal_asks.h"

namespace stile::run {
namespace {

int fail(std::string_view message) {
  if (!message.empty()) std::fprintf(stderr, "stile: %s\n", without_controls(message).c_str());
  return confine::own_failure;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

Result<Plan> make_plan(const Options& options, const Launch& launch, const std::string& control,
                       const Trust& trust) {
  Plan plan;
  plan.identity = launch.identity;
  auto files = choose_files(options, launch, own_environment(), control, trust);
  if (!files) return files.error();
  plan.files = std::move(*files);
  plan.command = launch.command;
  plan.limits = process_limits(launch.permissions.launch.limits);
  plan.host_ports = options.host_port;
  const auto& name = launch.command[0];
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

// The policy, and the ports that lead around it.
std::vector<std::string> for_the_log(const Options& options, const Launch& launch) {
  auto lines = policy_lines(launch);
  for (auto& port : ports_text(options)) lines.push_back(std::move(port));
  return lines;
}

Result<std::unique_ptr<Service>> open_service(Policy policy, const Options& options,
                                              const Launch& launch, UniqueFd control,
                                              Summary& summary) {
  const auto as_service = [](auto opened) -> Result<std::unique_ptr<Service>> {
    if (!opened) return opened.error();
    return std::unique_ptr<Service>{std::move(*opened)};
  };
  return options.connect
             ? as_service(Daemon::open(*options.connect, launch, summary))
             : as_service(Proxy::open(std::move(policy), options.audit,
                                      for_the_log(options, launch), std::move(control), summary));
}

// The listeners of the host are made after the process inside: it must never have them.
Result<void> open_ports(const Options& options, Jail& jail, const Identity& identity) {
  auto published = listen_on(options.publish, "of this host");
  if (!published) return published.error();
  if (auto done =
          start_relay(std::move(*published), options.publish, identity, jail.first_process());
      !done) {
    return done;
  }
  return start_relay(jail.take_host_ports(), options.host_port, identity, 0);
}

// How to allow more from another terminal.
Summary::Grant grant_command(const Options& options, const std::string& agent,
                             const ControlSocket& control) {
  const auto command = "stile allow " + agent + ' ';
  if (options.connect) {
    return {command, " --socket " + shell_word(printable(*options.connect))};
  }
  if (control.path().empty()) return {};
  return {command, control.selector()};
}

// A program that goes its own way cannot connect, and usually does not say why.
void tell_of_attempts(int status, const Summary& summary, const Attempts& attempts,
                      bool is_captured) {
  if (status == 0 || summary.requests() > 0) return;
  const auto count = attempts.count();
  if (count == 0) return;
  const char* why =
      is_captured
          ? "Inside only allowed names resolve, and there is no way to an address or for UDP"
          : "Inside there is no DNS and no route: a program has to use $HTTPS_PROXY, and this "
            "one may not know it";
  std::fprintf(stderr,
               "stile: no request reached the proxy, but the command tried %s to resolve a name or"
               " to connect by itself. %s (see docs/run.md)\n",
               count == 1 ? "once" : (std::to_string(count) + " times").c_str(), why);
}

// Ends the command when its time is over: first with a request, then by force.
class Lifetime {
 public:
  Lifetime(std::optional<UnixMicros> end, pid_t process) : end_{end}, process_{process} {}

  void check() {
    using std::chrono::seconds;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto is_after = [&](seconds more) {
      return end_ && now >= std::chrono::microseconds{*end_} + more;
    };
    if (is_after(patience)) {
      ::kill(process_, SIGKILL);
    } else if (is_after(seconds{0}) && !is_told_) {
      is_told_ = true;
      std::fputs("stile: the agent has expired; ending the command\n", stderr);
      ::kill(process_, SIGTERM);
    }
  }

 private:
  static constexpr std::chrono::seconds patience{10};
  std::optional<UnixMicros> end_;
  pid_t process_;
  bool is_told_ = false;
};

void say(const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    std::fprintf(stderr, "stile: %s\n", without_controls(line).c_str());
  }
}

// A person is asked about what no rule names, unless the config or card decides that. Nobody types
// an answer within the time that suits a daemon.
void ask_on_terminal(Launch& launch) {
  const auto is_set = [&](std::string_view section, std::string_view key) {
    return config::place_of(launch.settings.file, launch.settings.keys, section, key).line > 0;
  };
  auto& asks = launch.permissions.agent.asks;
  if (!asks && !is_set("egress", "unlisted")) asks = true;
  if (!is_set("limits", "ask_hold_ms")) launch.settings.limits.ask_hold = std::chrono::minutes{1};
}

// Null: the control socket cannot be reached, and people answer from elsewhere.
std::unique_ptr<TerminalAsks> open_terminal_asks(const std::string& socket,
                                                 TerminalAsks::Place place, LiveLines& live,
                                                 Summary& summary) {
  auto follower = control::ControlClient::connect(socket, {});
  auto answers = control::ControlClient::connect(socket, {});
  if (!follower || !answers) return nullptr;
  return std::make_unique<TerminalAsks>(
      std::move(*follower), std::move(*answers), std::move(place),
      [&live](std::string line) { live.tell(std::move(line)); },
      [&summary](const std::string& host) { return summary.is_harmless(host); },
      [&summary](const std::string& ask) { summary.refused_by_person(ask); });
}

bool is_in_sandbox() { return ::secure_getenv("AGENT_IN_SANDBOX") != nullptr; }

int dry_run(const Options& options, const Launch& launch) {
  const auto plan = make_plan(options, launch, {}, {});
  if (!plan) return fail(plan.error().message);
  say(plan->files.notices);
  print_plan(launch, plan->files.view.view, std::cout);
  if (const auto ports = ports_text(options); !ports.empty()) {
    std::cout << "\n# Ports\n";
    for (const auto& line : ports) std::cout << line << '\n';
  }
  return std::cout.flush() ? 0 : confine::own_failure;
}

}  // namespace

int run(const Options& options) {
  if (!keep_standard_descriptors()) return confine::own_failure;  // stderr may be closed
  if (is_in_sandbox() && !options.nested) {
    return fail("this is already a sandbox (AGENT_IN_SANDBOX is set); use --nested for one in it");
  }
  auto launch = prepare_launch(options, own_environment());
  ControlSocket control = !launch || options.connect || options.dry_run
                              ? ControlSocket{}
                              : ControlSocket{launch->identity};
  const bool can_be_answered = options.connect || !control.path().empty();
  const bool asks = launch && can_be_answered && !options.no_ask && TerminalAsks::is_possible();
  if (asks) ask_on_terminal(*launch);
  auto policy = launch ? make_policy(*launch, options.dry_run) : launch.error();
  if (!policy) {
    std::fputs(without_controls(policy.error().text()).c_str(), stderr);
    return confine::own_failure;
  }
  say(launch->notices);
  if (options.dry_run) return dry_run(options, *launch);
  LiveLines live;
  Summary summary;
  summary.set_policy((*policy).base->entries.at((*policy).agent)->policy);
  summary.set_harmless(launch->harmless);
  auto service = open_service(std::move(*policy), options, *launch, control.take(), summary);
  if (!service) return fail(service.error().message);
  summary.set_live([&](std::string line) { live.tell(std::move(line)); },
                   grant_command(options, (*service)->agent(), control));
  std::unique_ptr<TerminalAsks> terminal_asks;
  if (asks) {
    const auto& agent = (*service)->agent();
    terminal_asks = open_terminal_asks(
        options.connect.value_or(control.path()),
        {agent, grant_command(options, agent, control).after, launch->settings.limits.ask_hold},
        live, summary);
  }
  auto plan = make_plan(options, *launch, control.folder(), (*service)->trust());
  if (!plan) return fail(plan.error().message);
  if (!options.no_capture && launch->settings.netns.capture && (*service)->can_capture()) {
    plan->capture = plan_capture(launch->settings, launch->permissions.agent);
    confine::show_name_files(plan->capture->resolver_text(), plan->files.view.view);
  }
  say(plan->files.notices);
  if (const auto notice = files_notice(plan->files.view.view); !notice.empty()) {
    std::fprintf(stderr, "stile: %s\n", notice.c_str());
  }
  plan->mask = confine::block_signals();
  const StandardStreams streams;
  const TerminalForeground terminal;
  plan->has_own_group = !TerminalForeground::has_terminal();
  auto jail = Jail::make(*plan);
  if (!jail) return fail(jail.error().message);
  const Attempts attempts{jail->first_process()};
  say(limit_group(jail->first_process(), launch->permissions.launch.limits));
  auto ready = open_ports(options, *jail, plan->identity);
  if (ready) ready = give_up_powers(plan->identity);
  if (ready) ready = (*service)->serve(jail->take_listener(), jail->take_captured());
  if (!ready) {
    jail->abandon();
    return fail(ready.error().message);
  }
  live.start();
  if (terminal_asks) terminal_asks->start(jail->first_process());
  // If this fails, the process has ended, and its status shows why.
  static_cast<void>(jail->start());
  Lifetime lifetime{launch->permissions.agent.expires, jail->first_process()};
  const int status = confine::supervise({.child = jail->first_process(),
                                         .each_second =
                                             [&] {
                                               (*service)->tick();
                                               lifetime.check();
                                             },
                                         .on_signal =
                                             [&](int number) {
                                               if (terminal_asks) terminal_asks->on_signal(number);
                                             }});
  if (terminal_asks) terminal_asks->stop();
  (*service)->stop();
  live.stop();
  streams.restore();
  std::fputs(summary.text().c_str(), stderr);
  tell_of_attempts(status, summary, attempts, plan->capture.has_value());
  if (!(*service)->is_log_in_place()) {
    return fail(*options.audit +
                " is not the file that was logged to: it, or a directory above it," +
                " was replaced during the run; do not trust what it says");
  }
  return status;
}

}  // namespace stile::run
