// stile-netns: puts agents into network namespaces from which they can reach only the proxy. Parses
// flags, then calls one function per subcommand.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "acl/pattern.h"
#include "base/contains.h"
#include "base/files.h"
#include "base/joined.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "cmd/program.h"
#include "config/card.h"
#include "confine/supervise.h"
#include "netns/check.h"
#include "netns/check_notes.h"
#include "netns/control.h"
#include "netns/create.h"
#include "netns/exec.h"
#include "netns/hand_over.h"
#include "netns/list.h"
#include "netns/namespaces.h"
#include "netns/remove.h"
#include "netns/repair.h"
#include "netns/report.h"
#include "netns/watch.h"
#include "netns/worker.h"
#include "worker/file.h"

namespace {

using namespace stile;  // NOLINT(google-build-using-namespace)

constexpr int failed = 1;
constexpr int wrong_use = 2;

struct Options {
  std::optional<std::string> config;
  std::string id;
  std::optional<std::string> card, metrics;
  std::vector<std::string> allow, read, write, expose, command;
  std::string ttl, files = "view", instance, file;
  bool kill = false;
  bool no_capture = false;
  bool json = false;
};

int complain(const std::string& message, int status = failed) {
  std::cerr << "stile-netns: " << message << (message.ends_with('\n') ? "" : "\n");
  return status;
}

void warn(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) std::cerr << "stile-netns: warning: " << warning << '\n';
}

Result<netns::CardRequest> card_request(const Options& options) {
  netns::CardRequest request{options.card, {}, options.allow, {}};
  if (options.card) {
    auto text = read_file(AT_FDCWD, *options.card, config::max_card_bytes);
    if (!text) return text.error();
    if (!*text) return Error{*options.card + ": there is no such file"};
    request.text = std::move(**text);
  }
  if (const auto ttl = parse_duration(options.ttl)) {
    request.ttl = std::chrono::duration_cast<std::chrono::seconds>(*ttl);
  }
  return request;
}

int create(netns::FenceHost& host, const Options& options) {
  auto card = card_request(options);
  if (!card) return complain(card.error().message);
  const auto created =
      netns::create(host, {options.id, std::move(*card), options.no_capture, options.instance});
  if (!created) return complain(created.error().message);
  warn(created->warnings);
  const auto& agent = created->agent;
  const auto proxy = netns::proxy_url(host.setup.netns);
  const auto until = created->expires ? time_text(*created->expires) : std::string{};
  if (options.json) {
    std::cout << "{\"agent\":" << json_text(agent.id)
              << ",\"address\":" << json_text(agent.address.text())
              << ",\"instance\":" << json_text(agent.instance)
              << ",\"namespace\":" << json_text(netns::namespace_name(agent.id))
              << ",\"proxy\":" << json_text(proxy)
              << ",\"captured\":" << (agent.is_captured ? "true" : "false")
              << (until.empty() ? "" : ",\"expires\":" + json_text(until))
              << ",\"created\":" << (created->was_there ? "false" : "true") << "}\n";
  } else {
    const char* done = created->is_changed  ? " changed"
                       : created->was_there ? " exists already"
                                            : " created";
    std::cout << agent.id << done << ": address " << agent.address.text() << ", namespace "
              << netns::namespace_name(agent.id) << ", proxy " << proxy
              << (until.empty() ? "" : ", until " + until) << '\n';
  }
  return 0;
}

int remove(netns::FenceHost& host, const Options& options) {
  const auto removed = netns::remove(host, options.id, options.kill, options.instance);
  if (!removed) return complain(removed.error().message);
  warn(removed->warnings);
  std::cout << options.id << (removed->was_there ? " deleted\n" : " did not exist\n");
  for (const auto& process : removed->inside) {
    std::cout << (options.kill ? "killed: " : "still running, without a network: ") << process.pid
              << ' ' << json_text(process.name) << '\n';
  }
  return 0;
}

int list(netns::FenceHost& host, const Options& options) {
  const auto agents = netns::list_agents(host);
  if (!agents) return complain(agents.error().message);
  std::cout << (options.json ? netns::list_json(*agents) : netns::list_table(*agents));
  return 0;
}

int exec(netns::FenceHost& host, const Options& options) {
  if (options.command.empty())
    return complain("COMMAND is missing; write: stile-netns exec ID -- COMMAND",
                    confine::own_failure);
  const auto status =
      netns::exec_as(host, {options.id, options.command, options.read, options.write,
                            options.expose, options.files == "host"});
  if (!status) return complain(status.error().message, confine::own_failure);
  // Exits immediately: exit handlers may start a process (the leak sanitizer does), which is no
  // longer possible after the PID namespace has ended.
  std::quick_exit(*status);
}

// For units that stile-spawner starts.
int work(netns::FenceHost& host, const Options& options) {
  const auto text = read_file(AT_FDCWD, options.file, worker::max_worker_file_bytes);
  if (!text) return complain(text.error().message, confine::own_failure);
  if (!*text) return complain(options.file + ": there is no such file", confine::own_failure);
  const auto file = worker::parse_worker_file(**text, options.file);
  if (!file) return complain(file.error().text(), confine::own_failure);
  const auto status = netns::keep_worker(host, *file);
  if (!status) return complain(status.error().message, confine::own_failure);
  std::quick_exit(*status);  // as after exec
}

Result<void> write_metrics(const netns::CheckReport& report, const std::string& path) {
  using std::chrono::system_clock;
  const auto text = netns::report_metrics(report, system_clock::to_time_t(system_clock::now()));
  if (path == "-") {
    std::cout << text;
    return {};
  }
  const std::filesystem::path place{path};
  const auto parent = place.has_parent_path() ? place.parent_path().string() : ".";
  const UniqueFd directory{::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return system_error("cannot open " + parent);
  return replace_file(directory.get(), place.filename().string(), text, 0644, FileOwner{0, 0});
}

int check(netns::FenceHost& host, const Options& options) {
  const auto id = options.id.empty() ? std::nullopt : std::optional{options.id};
  const auto report = netns::check(host, id);
  if (!report) return complain(report.error().message);
  netns::tell_daemon(host.setup.control, netns::check_notes(*report));
  if (options.metrics) {
    const auto written = write_metrics(*report, *options.metrics);
    if (!written) return complain(written.error().message);
  }
  if (options.metrics != "-") {
    std::cout << (options.json ? netns::report_json(*report) : netns::report_table(*report));
  }
  return report->is_good() ? 0 : failed;
}

int repair(netns::FenceHost& host, const Options&) {
  const auto done = netns::repair(host);
  if (!done) return complain(done.error().message);
  for (const auto& line : *done) std::cout << line << '\n';
  const auto handed = netns::hand_over_capture(host.setup);
  if (!handed) return complain(handed.error().message);
  if (*handed) std::cout << netns::handed_over << '\n';
  if (done->empty() && !*handed) std::cout << "nothing to repair\n";
  return 0;
}

int watch(netns::FenceHost& host, const Options& options) {
  const auto say = [](const std::string& line) { std::cout << line << std::endl; };
  const auto read_config = [&options] { return netns::read_setup(options.config); };
  return complain(netns::watch(host, read_config, netns::notify_systemd, say).message);
}

using Action = int (*)(netns::FenceHost&, const Options&);

int run(Action action, const Options& options) {
  const int own_failure = action == exec || action == work ? confine::own_failure : failed;
  auto setup = netns::read_setup(options.config);
  if (!setup) return complain(setup.error().message, own_failure);
  auto host = netns::FenceHost::open(std::move(*setup));
  if (!host) return complain(host.error().message, own_failure);
  return action(*host, options);
}

// Everything after the first "--" is the command and is not parsed.
std::vector<std::string> split_command(int& argc, char** argv) {
  std::vector<std::string> command;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view{argv[i]} != "--") continue;
    command.assign(argv + i + 1, argv + argc);
    argc = i;
  }
  return command;
}

std::string problem_of_pattern(const std::string& text) {
  const auto pattern = acl::Pattern::parse(text);
  return pattern ? std::string{} : pattern.error().message;
}

std::string problem_of_ttl(const std::string& text) {
  const auto ttl = parse_duration(text);
  if (!ttl) return ttl.error().message;
  return *ttl < std::chrono::seconds{1} ? "at least one second" : "";
}

std::string problem_of_files(const std::string& text) {
  return text == "view" || text == "host" ? "" : in_quotes(text) + " is neither view nor host";
}

// The first word must be a subcommand; the parser's own message does not name those that there are.
std::string problem_of_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const auto list = joined(names);
  for (int i = 1; i < argc; ++i) {
    const std::string word{argv[i]};
    if (word == "-c" || word == "--config") {
      ++i;
      continue;
    }
    if (word.starts_with('-')) continue;
    if (contains(names, word)) return {};
    const auto near = nearest(word, {names.begin(), names.end()});
    return "unknown command " + in_quotes(word) +
           (near.empty() ? "; there are: " + list : "; did you mean '" + std::string{near} + "'?");
  }
  return "a command is missing: " + list;
}

int run(int argc, char** argv) {
  Options options;
  options.command = split_command(argc, argv);
  Action action = nullptr;
  CLI::App app{"stile-netns: put agents into namespaces that can reach only the proxy",
               "stile-netns"};
  use_help_text(app, "stile-netns " STILE_VERSION);
  app.add_option("-c,--config", options.config, "config file (default: /etc/stile/stile.toml)")
      ->type_name("FILE");
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Action what) {
    auto* command = app.add_subcommand(name, help);
    command->callback([&action, what] { action = what; });
    return command;
  };
  const auto add_id = [&](CLI::App* command) {
    return command->add_option("ID", options.id, "the agent's id")->required()->type_name("");
  };
  auto* making = add("create", "make an agent's namespace, or complete it", create);
  add_id(making);
  auto* card = making->add_option("--card", options.card, "read its policy from this card")
                   ->type_name("FILE");
  making->add_option("--allow", options.allow, "let it reach the hosts of these patterns")
      ->type_name("PATTERN")
      ->excludes(card)
      ->check(CLI::Validator{problem_of_pattern, ""});
  making->add_option("--ttl", options.ttl, "expire the agent after this time: 10m, 1h, 7d")
      ->type_name("TIME")
      ->check(CLI::Validator{problem_of_ttl, ""});
  making->add_flag("--no-capture", options.no_capture,
                   "give it no name server and no route: only programs that use the proxy get out");
  making->add_option("--new", options.instance, "fail if it exists; give it this instance")
      ->type_name("INSTANCE");
  making->add_flag("--json", options.json, "print JSON, for scripts");
  auto* removing = add("delete", "remove it; processes inside lose their network", remove);
  add_id(removing);
  removing->add_flag("--kill", options.kill, "kill the processes inside, too");
  removing->add_option("--instance", options.instance, "only if it has this instance")
      ->type_name("INSTANCE");
  add("list", "list the agents", list)->add_flag("--json", options.json, "print JSON, for scripts");
  auto* running =
      add("exec", "run a command as the agent: exec ID [--read PATH]… [--write PATH]… -- COMMAND…",
          exec);
  add_id(running);
  const auto add_paths = [&](const char* flag, std::vector<std::string>& paths, const char* help) {
    running->add_option(flag, paths, help)->type_name("PATH")->take_all()->allow_extra_args(false);
  };
  add_paths("--read", options.read, "show a file or directory, read-only");
  add_paths("--write", options.write, "show a file or directory, writable");
  add_paths("--expose", options.expose, "show a path with the sockets in it");
  running
      ->add_option("--files", options.files,
                   "view: the system and this directory; host: all files of this host")
      ->type_name("MODE")
      ->check(CLI::Validator{problem_of_files, ""});
  auto* checking = add("check", "test that the agents can reach only the proxy", check);
  checking->add_option("ID", options.id, "only this agent")->type_name("");
  checking->add_flag("--json", options.json, "print JSON, for scripts");
  checking
      ->add_option("--metrics", options.metrics,
                   "write this file for node-exporter; - is standard output")
      ->type_name("FILE");
  add("repair", "restore what is missing, remove what was left behind", repair);
  add("watch", "keep the fence in place until stopped", watch);
  add("worker", "run a worker of stile-spawner", work)
      ->add_option("FILE", options.file, "written by stile-spawner")
      ->type_name("")
      ->required();
  try {
    app.parse(argc, cmd::Words{argc, argv}.get());
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    auto wrong = problem_of_command(app, argc, argv);
    std::string help = "stile-netns --help";
    for (const auto* command : app.get_subcommands()) {
      wrong = cmd::unknown_option(*command, argc, argv);
      help = "stile-netns " + command->get_name() + " --help";
    }
    return complain((wrong.empty() ? problem.what() : wrong) + "\n  next: " + help, wrong_use);
  }
  if (!options.command.empty() && action != exec) {
    return complain("only exec takes a command", wrong_use);
  }
  return run(action, options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    return complain(problem.what());
  }
}
