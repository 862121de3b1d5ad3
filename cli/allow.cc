// stile allow: a grant on top of the policy, for a while or until it is taken back.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/control_command.h"
#include "config/diagnostics.h"
#include "config/units.h"

namespace stile::cli {
namespace {

struct AllowOptions {
  ControlOptions control;
  std::string agent;
  std::vector<std::string> hosts;
  std::string duration, bytes_up, reason;
  std::uint64_t max_requests = 0;
};

Json request_of(const AllowOptions& options) {
  Json request{{"action", "allow"}, {"agent", options.agent}, {"hosts", options.hosts}};
  if (const auto time = config::parse_duration(options.duration)) {
    request["ttl_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(*time).count();
  }
  if (options.max_requests > 0) request["max_requests"] = options.max_requests;
  if (const auto size = config::parse_size(options.bytes_up)) request["bytes_up"] = *size;
  if (!options.reason.empty()) request["reason"] = options.reason;
  return request;
}

int print_allow(const AllowOptions& options, const Json& answer) {
  std::cout << options.agent << " may reach";
  for (const auto& host : options.hosts) {
    std::cout << (&host == &options.hosts.front() ? " " : ", ") << host;
  }
  if (!options.duration.empty()) std::cout << " for " << options.duration;
  if (options.max_requests > 0) std::cout << ", at most " << options.max_requests << " requests";
  if (!options.bytes_up.empty()) std::cout << ", at most " << options.bytes_up << " up";
  if (options.duration.empty()) std::cout << ", until it is taken back";
  std::cout << "\n  take it back: stile revoke " << options.agent << " --grant "
            << config::printable(text_of(answer, "grant")) << '\n';
  return fine;
}

}  // namespace

void add_allow(CLI::App& app, Action& action) {
  auto options = std::make_shared<AllowOptions>();
  auto* command = app.add_subcommand("allow", "let an agent reach hosts, now, for a while");
  command->add_option("AGENT", options->agent, "the agent's id")->required();
  command->add_option("HOST", options->hosts, "patterns, as in `allow` of the config")
      ->required()
      ->check(check_pattern);
  command->add_option("--for", options->duration, "how long: 10m, 1h30m (default: until revoked)")
      ->check(check_duration);
  command->add_option("--max-requests", options->max_requests, "how many requests or tunnels")
      ->check(CLI::PositiveNumber);
  command->add_option("--bytes-up", options->bytes_up, "how much may be sent: 5MiB")
      ->check(check_size);
  command->add_option("--reason", options->reason, "why, for the audit log");
  add_control_options(*command, options->control);
  command->footer(
      "Examples:\n"
      "  stile allow alpha wheels.example.org --for 10m\n"
      "  stile allow alpha .githubusercontent.com files.example.com:8443 --max-requests 20\n"
      "  stile allow alpha upload.example.com --bytes-up 5MiB --reason 'ticket 4711'\n"
      "A deny rule wins over a grant. What is granted shows in `stile agents AGENT`.");
  command->callback([options, &action] {
    action = [options] {
      return ask(
          options->control, Access::change, request_of(*options),
          [&](const Json& answer, const Terminal&) { return print_allow(*options, answer); });
    };
  });
}

}  // namespace stile::cli
