// stile approve, stile refuse: answers an ask.
#include <iostream>
#include <memory>

#include "base/quoted.h"
#include "base/units.h"
#include "cli/argument_checks.h"
#include "cli/ask_words.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

struct AnswerOptions {
  ControlOptions control;
  std::string id, duration, bytes_up, reason;
  std::vector<std::string> hosts;
  std::uint64_t max_requests = 0;
  bool once = false;
};

Json answer_request(const AnswerOptions& options, const char* verdict) {
  Json request{{"action", "answer"}, {"ask", options.id}, {"verdict", verdict}};
  if (const auto time = parse_duration(options.duration)) {
    request.set("ttl_seconds", std::chrono::duration_cast<std::chrono::seconds>(*time).count());
  }
  if (!options.hosts.empty()) request.set("hosts", options.hosts);
  if (options.max_requests > 0) request.set("max_requests", options.max_requests);
  if (options.once) request.set("max_requests", 1U);
  if (const auto size = parse_size(options.bytes_up)) request.set("bytes_up", *size);
  if (!options.reason.empty()) request.set("reason", options.reason);
  return request;
}

// The ask as it was before the answer, to say what was answered; null if it is not open.
Json find_ask(control::ControlClient& client, const std::string& id) {
  const auto open = send_request(client, {{"action", "asks"}});
  if (!open) return {};
  for (const Json& ask : list_of(open->json, "asks")) {
    if (text_of(ask, "id") == id) return ask;
  }
  return {};
}

int answer_ask(const AnswerOptions& options, bool allows) {
  auto client = connect(options.control, Access::change);
  if (!client) return report(client.error(), options.control);
  const Json ask = find_ask(*client, options.id);
  const auto answer = send_request(*client, answer_request(options, allows ? "allow" : "deny"));
  if (!answer) return report(answer.error(), options.control);
  if (options.control.json) return print_json(answer->json);
  const auto agent = printable(text_of(ask, "agent"));
  const std::string time = options.duration.empty() ? "10m" : options.duration;
  if (!allows) {
    std::cout << agent << " may not reach " << wanted(ask) << ", and does not ask again for "
              << time << '\n';
    return fine;
  }
  std::cout << agent << " may reach ";
  if (options.hosts.empty()) std::cout << wanted(ask);
  for (const auto& host : options.hosts) {
    std::cout << (&host == &options.hosts.front() ? "" : ", ") << printable(host);
  }
  std::cout << " for " << time << (options.once ? ", once" : "") << '\n';
  const auto undo = "stile revoke " + agent + " --grant " + text_of(answer->json, "grant");
  std::cout << "  undo: " << printable(addressed(undo, options.control)) << '\n';
  return fine;
}

}  // namespace

void add_approve(Command& stile) {
  auto options = std::make_shared<AnswerOptions>();
  auto command = stile.add("approve", "allow what an ask is about, for a limited time");
  command.word("ASK", options->id, "its id, from `stile asks`").required();
  command.option("--for", options->duration, "how long: 10m, 1h30m (default: 10m)")
      .check(check_duration);
  command.options("--as", options->hosts, "these hosts instead: a wider pattern that covers it")
      .shown_as("PATTERN")
      .check(check_pattern)
      .repeated();
  const auto most =
      command.option("--max-requests", options->max_requests, "how many requests or tunnels");
  command.flag("--once", options->once, "one request or tunnel").excludes(most);
  command.option("--bytes-up", options->bytes_up, "how much may be sent: 5MiB").check(check_size);
  command.option("--reason", options->reason, "why, for the audit log");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile approve 3f9a0c1d22b4\n"
      "  stile approve 3f9a0c1d22b4 --for 1h\n"
      "  stile approve 3f9a0c1d22b4 --as .example.org --for 1h\n"
      "  stile approve 3f9a0c1d22b4 --once\n"
      "Without --as exactly what was asked is granted: that name on that port. For good:\n"
      "stile allow AGENT HOST --save");
  command.does([options] { return answer_ask(*options, true); });
}

void add_refuse(Command& stile) {
  auto options = std::make_shared<AnswerOptions>();
  auto command = stile.add("refuse", "refuse what an ask is about");
  command.word("ASK", options->id, "its id, from `stile asks`").required();
  command.option("--for", options->duration, "do not ask again for this time (default: 10m)")
      .check(check_duration);
  command.option("--reason", options->reason, "why, for the audit log");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile refuse 3f9a0c1d22b4\n"
      "  stile refuse 3f9a0c1d22b4 --for 8h\n"
      "For good: add the name to `deny` of the agent.");
  command.does([options] { return answer_ask(*options, false); });
}

}  // namespace stile::cli
