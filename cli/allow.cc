// stile allow: adds a grant to the policy, for a limited time or until it is revoked.
#include <iostream>
#include <memory>
#include <optional>

#include "audit/text.h"
#include "base/contains.h"
#include "base/quoted.h"
#include "base/units.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/edit_list.h"
#include "cli/fleet_grant.h"
#include "cli/save_rule.h"
#include "cli/situation.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

struct AllowOptions {
  ControlOptions control;
  std::string agent;
  std::vector<std::string> hosts;
  std::string duration, bytes_up, reason;
  std::uint64_t max_requests = 0;
  bool save = false, fleet = false;
  std::string fleet_config, fleet_key;
};

Json allow_request(const AllowOptions& options) {
  Json request{{"action", "allow"}, {"agent", options.agent}, {"hosts", options.hosts}};
  if (const auto time = parse_duration(options.duration)) {
    request.set("ttl_seconds", std::chrono::duration_cast<std::chrono::seconds>(*time).count());
  }
  if (options.max_requests > 0) request.set("max_requests", options.max_requests);
  if (const auto size = parse_size(options.bytes_up)) request.set("bytes_up", *size);
  if (!options.reason.empty()) request.set("reason", options.reason);
  return request;
}

void print_grant_limits(const AllowOptions& options) {
  if (!options.duration.empty()) std::cout << " for " << options.duration;
  if (options.max_requests > 0) {
    std::cout << ", at most " << audit::counted(options.max_requests, "request");
  }
  if (!options.bytes_up.empty()) std::cout << ", at most " << options.bytes_up << " up";
  if (options.duration.empty()) std::cout << ", until it is revoked";
}

int print_allow(const AllowOptions& options, const Json& answer) {
  const Json& restored = list_of(answer, "restored");
  if (!restored.empty()) {
    const bool has_limits =
        !options.duration.empty() || options.max_requests > 0 || !options.bytes_up.empty();
    std::cout << "no longer revoked: " << printable(joined(restored)) << "; the policy of "
              << options.agent << " applies again"
              << (has_limits ? ", and the limits of a grant do not apply to what it allows" : "")
              << '\n';
  }
  if (!has(answer, "grant")) return fine;
  std::cout << options.agent << " may reach";
  for (const auto& host : options.hosts) {
    std::cout << (&host == &options.hosts.front() ? " " : ", ") << host;
  }
  print_grant_limits(options);
  const auto undo = "stile revoke " + options.agent + " --grant " + text_of(answer, "grant");
  std::cout << "\n  undo: " << printable(addressed(undo, options.control)) << '\n';
  return fine;
}

std::optional<CommandFailure> find_denied(const AllowOptions& options, const Situation& situation) {
  for (const auto& host : options.hosts) {
    const auto pattern = acl::Pattern::parse(host);
    const auto rule = pattern ? denying_rule(situation, *pattern) : std::string{};
    if (rule.empty()) continue;
    const auto& revoked = situation.revoked;
    const bool is_revoked = contains(revoked, rule);
    return CommandFailure{
        failed, "denied-by-rule",
        host + " is denied by " + rule + ", which wins; nothing was saved",
        is_revoked ? "stile allow " + options.agent + ' ' + shell_word(rule) : "",
        is_revoked ? "" : "remove the deny rule, then: stile check && stile reload"};
  }
  return std::nullopt;
}

// The file must not keep what is not in force.
CommandFailure taken_back(const FileChange& change, CommandFailure refused) {
  if (change.before == change.after) return refused;
  const auto undone = write_change({change.file, change.after, change.before});
  refused.message +=
      undone
          ? "\n" + change.file + " is unchanged"
          : "\n" + change.file + " has the rule, but it is not in force: " + undone.error().message;
  return refused;
}

// Writes the rule into the file of the agent's entry; the reload makes it part of the policy.
int save(const AllowOptions& options) {
  auto client = connect(options.control, Access::change);
  if (!client) return report(client.error(), options.control);
  const auto situation = ask_agent(*client, options.agent);
  if (!situation) return report(situation.error(), options.control);
  if (const auto denied = find_denied(options, *situation)) return report(*denied, options.control);
  const auto change = plan_rules(situation->entry, options.agent, options.hosts);
  if (!change) return report(change.error(), options.control);
  const auto diff = line_diff(change->file, change->before, change->after);
  if (!diff.empty()) {
    if (const auto written = write_change(*change); !written) {
      return report(written.error(), options.control);
    }
  }
  const auto reloaded = send_request(*client, {{"action", "reload"}});
  if (!reloaded) return report(taken_back(*change, reloaded.error()), options.control);
  if (options.control.json) {
    Json answer = reloaded->json;
    answer.set("file", change->file);
    answer.set("diff", diff);
    return print_json(answer);
  }
  if (diff.empty()) {
    std::cout << change->file << " already has it\n";
  } else {
    std::cout << diff << "saved in " << change->file << '\n';
  }
  std::cout << "policy " << number_of(reloaded->json, "generation") << " is in force\n";
  return fine;
}

// The rules of the agent that allow each of the hosts. Empty: not all of them are allowed. A grant
// for hosts that are allowed would only outlive these rules.
std::vector<std::string> allowing_rules(control::ControlClient& client,
                                        const AllowOptions& options) {
  const auto situation = ask_agent(client, options.agent);
  if (!situation) return {};  // the request will fail for the same reason, and report it
  std::vector<std::string> rules;
  for (const auto& host : options.hosts) {
    const auto pattern = acl::Pattern::parse(host);
    const bool is_denied = pattern && !denying_rule(*situation, *pattern).empty();
    auto rule = pattern && !is_denied ? allowing_rule(*situation, *pattern) : std::string{};
    if (rule.empty()) return {};
    rules.push_back(std::move(rule));
  }
  return rules;
}

int print_allowed_already(const AllowOptions& options, const std::vector<std::string>& rules) {
  if (options.control.json) return print_json({{"ok", true}, {"already_allowed_by", rules}});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::cout << printable(options.agent + " may already reach " + options.hosts[i] +
                           ", by the rule " + rules[i])
              << '\n';
  }
  std::cout << "nothing was changed\n";
  return fine;
}

int run_allow(const AllowOptions& options) {
  if (options.fleet) {
    return grant_on_fleet({options.fleet_config, options.fleet_key, options.agent, options.duration,
                           options.hosts, options.control.json});
  }
  if (options.save) return save(options);
  auto client = connect(options.control, Access::change);
  if (!client) return report(client.error(), options.control);
  const auto rules = allowing_rules(*client, options);
  if (!rules.empty()) return print_allowed_already(options, rules);
  const auto answer = send_request(*client, allow_request(options));
  if (!answer) return report(answer.error(), options.control);
  if (!options.control.json) return print_allow(options, answer->json);
  return print_json(answer->json);
}

}  // namespace

void add_allow(Command& stile) {
  auto options = std::make_shared<AllowOptions>();
  auto command = stile.add("allow", "let an agent reach more hosts, at once");
  command.word("AGENT", options->agent, "the agent's id").required();
  command.words("HOST", options->hosts, "patterns, as in `allow` of the config")
      .required()
      .check(check_pattern);
  const auto save = command.flag("--save", options->save,
                                 "add a rule to the config or card: show a diff, then reload");
  command
      .option("--for", options->duration,
              "expire the grant after this time: 10m, 1h30m (default: until revoked)")
      .check(check_duration)
      .excludes(save);
  const auto fleet = command.flag("--fleet", options->fleet,
                                  "on all hosts of the fleet, signed (see: stile fleet --help)");
  command.option("--key", options->fleet_key, "with --fleet: the private key that signs")
      .shown_as("FILE");
  command.option("-c,--config", options->fleet_config, "with --fleet: the config with [fleet]")
      .shown_as("FILE");
  command
      .option("--max-requests", options->max_requests,
              "end the grant after this many requests or tunnels")
      .excludes(save)
      .excludes(fleet);
  command.option("--bytes-up", options->bytes_up, "end the grant after this much was sent: 5MiB")
      .check(check_size)
      .excludes(save)
      .excludes(fleet);
  command.option("--reason", options->reason, "a note for the audit log")
      .excludes(save)
      .excludes(fleet);
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile allow alpha wheels.example.org --for 10m\n"
      "  stile allow alpha .githubusercontent.com files.example.com:8443 --max-requests 20\n"
      "  stile allow alpha upload.example.com --bytes-up 5MiB --reason 'ticket 4711'\n"
      "  stile allow alpha api.example.com --save     permanent: also in the file of its entry\n"
      "  stile allow alpha api.example.com --for 1h --fleet --key fleet.key     on all hosts\n"
      "A deny rule wins over a grant. What is granted shows in `stile agents AGENT`.\n"
      "If the policy itself allows a revoked host, no grant is made: the revocation is removed.\n"
      "With --json, hosts that are allowed already are answered with `already_allowed_by`.");
  command.does([options] { return run_allow(*options); });
}

}  // namespace stile::cli
