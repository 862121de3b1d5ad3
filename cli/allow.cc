// stile allow: adds a grant to the policy, for a limited time or until it is revoked.
#include <iostream>
#include <memory>

#include "audit/text.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/control_command.h"
#include "cli/edit_list.h"
#include "cli/save_rule.h"
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
  bool save = false;
};

Json allow_request(const AllowOptions& options) {
  Json request{{"action", "allow"}, {"agent", options.agent}, {"hosts", options.hosts}};
  if (const auto time = config::parse_duration(options.duration)) {
    request.set("ttl_seconds", std::chrono::duration_cast<std::chrono::seconds>(*time).count());
  }
  if (options.max_requests > 0) request.set("max_requests", options.max_requests);
  if (const auto size = config::parse_size(options.bytes_up)) request.set("bytes_up", *size);
  if (!options.reason.empty()) request.set("reason", options.reason);
  return request;
}

void print_grant_limits(const AllowOptions& options) {
  if (!options.duration.empty()) std::cout << " for " << options.duration;
  if (options.max_requests > 0) {
    std::cout << ", at most " << audit::counted(options.max_requests, "request");
  }
  if (!options.bytes_up.empty()) std::cout << ", at most " << options.bytes_up << " up";
  if (options.duration.empty()) std::cout << ", until it is taken back";
}

int print_allow(const AllowOptions& options, const Json& answer) {
  const Json& restored = list_of(answer, "restored");
  if (!restored.empty()) {
    const bool has_limits =
        !options.duration.empty() || options.max_requests > 0 || !options.bytes_up.empty();
    std::cout << "no longer revoked: " << config::printable(joined(restored)) << "; the policy of "
              << options.agent << " decides again"
              << (has_limits ? ", and the limits of a grant do not hold for what it allows" : "")
              << '\n';
  }
  if (!has(answer, "grant")) return fine;
  std::cout << options.agent << " may reach";
  for (const auto& host : options.hosts) {
    std::cout << (&host == &options.hosts.front() ? " " : ", ") << host;
  }
  print_grant_limits(options);
  std::cout << "\n  take it back: stile revoke " << options.agent << " --grant "
            << config::printable(text_of(answer, "grant")) << '\n';
  return fine;
}

// Writes the rule into the file of the agent's entry; the reload makes it part of the policy.
int save(const AllowOptions& options) {
  auto client = connect(options.control, Access::change);
  if (!client) return report(client.error(), options.control);
  const Json view{{"action", "agent"}, {"agent", options.agent}};
  const auto agent = send_request(*client, view);
  if (!agent) return report(agent.error(), options.control);
  const auto entry = text_of(object_of(agent->json, "agent"), "entry");
  const auto change = plan_rules(entry, options.agent, options.hosts);
  if (!change) return report(change.error(), options.control);
  const auto diff = line_diff(change->file, change->before, change->after);
  if (!diff.empty()) {
    if (const auto written = write_change(*change); !written) {
      return report(written.error(), options.control);
    }
  }
  const auto reloaded = send_request(*client, {{"action", "reload"}});
  if (options.control.json && reloaded) {
    Json answer = reloaded->json;
    answer.set("file", change->file);
    answer.set("diff", diff);
    std::cout << dump(answer) << '\n';
    return fine;
  }
  if (diff.empty()) {
    std::cout << change->file << " has it already\n";
  } else {
    std::cout << diff << "saved in " << change->file << '\n';
  }
  if (!reloaded) return report(reloaded.error(), options.control);
  std::cout << "policy " << number_of(reloaded->json, "generation") << " is in force\n";
  return fine;
}

int run_allow(const AllowOptions& options) {
  if (options.save) return save(options);
  return ask(options.control, Access::change, allow_request(options),
             [&](const Json& answer, const Terminal&) { return print_allow(options, answer); });
}

}  // namespace

void add_allow(Command& stile) {
  auto options = std::make_shared<AllowOptions>();
  auto command = stile.add("allow", "let an agent reach hosts, now, for a while");
  command.word("AGENT", options->agent, "the agent's id").required();
  command.words("HOST", options->hosts, "patterns, as in `allow` of the config")
      .required()
      .check(check_pattern);
  const auto save = command.flag("--save", options->save,
                                 "as a rule in the config or card: shows a diff, then reloads");
  command.option("--for", options->duration, "how long: 10m, 1h30m (default: until revoked)")
      .check(check_duration)
      .excludes(save);
  command.option("--max-requests", options->max_requests, "how many requests or tunnels")
      .excludes(save);
  command.option("--bytes-up", options->bytes_up, "how much may be sent: 5MiB")
      .check(check_size)
      .excludes(save);
  command.option("--reason", options->reason, "why, for the audit log").excludes(save);
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile allow alpha wheels.example.org --for 10m\n"
      "  stile allow alpha .githubusercontent.com files.example.com:8443 --max-requests 20\n"
      "  stile allow alpha upload.example.com --bytes-up 5MiB --reason 'ticket 4711'\n"
      "  stile allow alpha api.example.com --save     for good: also in the file of its entry\n"
      "A deny rule wins over a grant. What is granted shows in `stile agents AGENT`.\n"
      "A host that was revoked although the policy allows it needs no grant: it is only no longer\n"
      "revoked.");
  command.does([options] { return run_allow(*options); });
}

}  // namespace stile::cli
