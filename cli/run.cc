// stile run: runs one command behind a fence, without a daemon.
#include "run/run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>

#include "acl/host.h"
#include "acl/localhost.h"
#include "acl/pattern.h"
#include "base/contains.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "config/api_providers.h"
#include "config/capability.h"
#include "config/profile.h"

namespace stile::cli {
namespace {

// What a pattern can allow: never the host itself under that name.
std::string check_allowed(const std::string& text) {
  const auto pattern = acl::Pattern::parse(text);
  if (!pattern) return pattern.error().message;
  if (pattern->kind == acl::Pattern::Kind::regex || !acl::is_localhost(pattern->name)) return {};
  return text +
         " can never work: inside, localhost is the command itself, not this host; give the " +
         "service another name (see \"A service of this host\" in docs/run.md)";
}

std::string check_secret(const std::string& text) {
  const auto secret = config::parse_secret(text);
  return secret ? std::string{} : text + ": " + secret.error().message;
}

// The files of capabilities may have mistakes; the run itself reports those.
std::string check_capability(const std::string& text) {
  const auto known = config::Capabilities::load(config::capability_directories(), ::geteuid());
  if (!known) return {};
  const auto requests = known->expand(text);
  return requests ? std::string{} : requests.error().message;
}

std::string check_profile(const std::string& name) {
  const auto names = config::profile_names(config::profile_directories());
  if (contains(names, name)) return {};
  const auto meant = nearest(name, {names.begin(), names.end()});
  return "there is no profile " + in_quotes(name) +
         (meant.empty() ? "; stile profile lists them"
                        : "; did you mean " + std::string{meant} + '?');
}

std::string check_shown(const std::string& path) {
  struct stat status {};
  const bool is_absent =
      ::lstat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
  return is_absent ? path + " does not exist" : std::string{};
}

std::string check_files_mode(const std::string& mode) {
  return mode == "view" || mode == "host" ? "" : in_quotes(mode) + " is neither view nor host";
}

std::string check_exposed(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return {};
  return path + " does not exist; there is nothing to expose";
}

std::string check_port(const std::string& text) {
  if (!acl::parse_port(text)) return in_quotes(text) + " is not a port from 1 to 65535";
  return text == "3128" ? "3128 is the port of the command's own proxy" : "";
}

// `--allow A B -- COMMAND` would run B.
void check_command(const CLI::App& parsed, const std::vector<std::string>& command) {
  if (command.empty()) return;
  const auto is_mark = [](const std::string& word) { return word == "--"; };
  const auto unread = parsed.remaining();
  const bool begins_with_mark = std::any_of(unread.begin(), unread.end(), is_mark);
  if (begins_with_mark || std::none_of(command.begin(), command.end(), is_mark)) return;
  throw CLI::ValidationError{
      command.front() + " comes before --",
      "every flag takes one value; repeat the flag, as in --allow A --allow B -- COMMAND"};
}

}  // namespace

void add_run(Command& stile) {
  CLI::App& app = stile.app();
  CommandAction& action = stile.chosen();
  auto options = std::make_shared<run::Options>();
  auto* command = app.add_subcommand(
      "run", "run a command that can reach only what is allowed; needs no root, no daemon");
  command->positionals_at_end();
  command->add_option("--allow", options->allow, "a pattern that it may reach; may be repeated")
      ->type_name("PATTERN")
      ->check(check_allowed)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--deny", options->deny, "a pattern that it may not reach; wins over --allow")
      ->type_name("PATTERN")
      ->check(check_pattern)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--can", options->can,
                   "a capability, such as \"github:read acme/app\"; stile can lists them")
      ->type_name("CAPABILITY")
      ->check(check_capability)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--ech", options->ech,
                   "allow encrypted TLS hellos to the hosts of this pattern; browsers need it")
      ->type_name("PATTERN")
      ->check(check_pattern)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--secret", options->secret,
                   "add the key of this file to requests to HOST; the command gets a placeholder")
      ->type_name("NAME=FILE:HOST[:HEADER]")
      ->check(check_secret)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--card", options->card, "an agent card: policy, workspace, command, limits")
      ->type_name("FILE");
  command
      ->add_option("--restrict", options->restriction,
                   "a file that can only narrow the policy: agent-permissions.json")
      ->type_name("FILE");
  auto* profile = command
                      ->add_option("--profile", options->profile,
                                   "what this agent needs (default: the profile of COMMAND's name)")
                      ->type_name("NAME")
                      ->check(check_profile);
  command->add_flag("--no-profile", options->no_profile, "use no profile")->excludes(profile);
  command->add_flag("--dry-run", options->dry_run,
                    "print policy, files, network and limits, and run nothing");
  command->add_flag("--nested", options->nested, "run inside another sandbox");
  auto* config =
      command
          ->add_option("--config", options->config, "[egress], [dns], [limits] of this stile.toml")
          ->type_name("FILE");
  command->add_flag("--observe", options->observe,
                    "refuse nothing; report what would have been refused");
  command->add_flag("--no-ask", options->no_ask,
                    "refuse what no flag allows, and do not ask on the terminal");
  command->add_flag("--no-capture", options->no_capture,
                    "no names inside: only programs that use the proxy reach anything");
  auto* audit =
      command
          ->add_option("--audit", options->audit, "write the audit log there; - is standard output")
          ->type_name("FILE");
  command->add_option("--expose", options->expose, "show a path with the sockets in it")
      ->type_name("PATH")
      ->check(check_exposed)
      ->allow_extra_args(false)
      ->take_all();
  for (auto [flag, paths, help] :
       {std::tuple{"--read", &options->read, "show a file or directory, read-only"},
        std::tuple{"--write", &options->write, "show a file or directory, writable"}}) {
    command->add_option(flag, *paths, help)
        ->type_name("PATH")
        ->check(check_shown)
        ->allow_extra_args(false)
        ->take_all();
  }
  command
      ->add_option("--files", options->files,
                   "view: the system and this directory; host: all files of this host")
      ->type_name("MODE")
      ->check(check_files_mode);
  auto* connect = command
                      ->add_option("--connect", options->connect,
                                   "use the daemon at this control socket as its proxy")
                      ->type_name("SOCKET")
                      ->excludes(config)
                      ->excludes(audit);
  for (auto [flag, ports, help] :
       {std::tuple{"--publish", &options->publish,
                   "127.0.0.1:PORT of this host leads to 127.0.0.1:PORT inside"},
        std::tuple{"--host-port", &options->host_port,
                   "127.0.0.1:PORT inside leads to 127.0.0.1:PORT of this host"}}) {
    command->add_option(flag, *ports, help)
        ->type_name("PORT")
        ->check(check_port)
        ->allow_extra_args(false)
        ->take_all()
        ->excludes(connect);  // the daemon's log would not have them
  }
  command
      ->add_option("COMMAND", options->command,
                   "what to run, with its arguments, after -- (default: the card's)")
      ->type_name("");
  command->footer(
      "Examples:\n"
      "  stile run --allow api.github.com -- curl https://api.github.com/zen\n"
      "  stile run --allow .example.org --allow http://packages.example.net -- make\n"
      "  stile run --can \"git:fetch github.com/acme/app\" --can npm:install -- ./build\n"
      "  stile run --observe --audit seen.jsonl -- ./agent     what does it ask for?\n"
      "  stile run -- claude                                   with its profile\n"
      "  stile run --allow api.anthropic.com --secret anthropic=key.txt:api.anthropic.com -- "
      "./agent\n"
      "  stile run --card worker.json --restrict agent-permissions.json --dry-run\n"
      "Exit status: the command's; 128+n for a signal, 125 if stile failed and nothing was run,\n"
      "126 and 127 if the command cannot be run or found; 2 for a mistake in the flags.");
  command->callback([options, command, &action] {
    if (options->command.empty() && !options->card) throw CLI::RequiredError{"COMMAND"};
    check_command(*command, options->command);
    action = [options] { return run::run(*options); };
  });
}

}  // namespace stile::cli
