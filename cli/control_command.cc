// Code shared by all commands that talk to the daemon.
#include "cli/control_command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>

#include "base/joined.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "base/table.h"
#include "cli/live_run.h"
#include "config/diagnostics.h"
#include "control/daemon_sockets.h"

namespace stile::cli {
namespace {

// The command that sends this request.
std::string command_of(const Json& request) {
  const std::string action = text_of(request, "action");
  if (action == "agent") return "agents";
  if (action == "answer") return text_of(request, "verdict") == "deny" ? "refuse" : "approve";
  if (action == "budget-reset") return "budget reset";
  return action;
}

std::string advice_for(const std::string& code, const Json& request) {
  const std::string action = text_of(request, "action");
  if (code == "unknown-agent") return "stile agents";
  if (code == "forbidden") return as_root() + "   # this user may only look";
  if (code == "denied-by-rule") return {};
  if (code == "config-error") {
    return action == "put-agent" ? "" : "stile check   # nothing was changed";
  }
  if (action == "revoke" && has(request, "grant")) {
    return "stile agents " + shell_word(text_of(request, "agent")) + "   # lists the grants";
  }
  if (code == "conflict" && action == "budget-reset") {
    return "stile agents " + shell_word(text_of(request, "agent"));
  }
  if (code == "conflict") return action == "answer" ? "stile asks" : "stile agents";
  if (code == "internal") return "journalctl -u stiled -n 50";
  if (code == "unknown-action") return "stiled --version; stile --version   # do they differ?";
  return "stile " + (action.empty() ? std::string{} : command_of(request) + ' ') + "--help";
}

std::string note_for(const std::string& code, const Json& request) {
  if (code == "denied-by-rule") {
    return "remove the deny rule from the config, then: stile check && stile reload";
  }
  const bool is_card = code == "config-error" && text_of(request, "action") == "put-agent";
  return is_card ? "fix the card; nothing was changed" : "";
}

constexpr std::size_t most_listed = 10;

// "; did you mean alpha?", or the list of agents.
std::string known_agents(control::ControlClient& client, const std::string& wanted) {
  const auto answer = send_request(client, {{"action", "agents"}});
  if (!answer) return {};
  std::vector<std::string> ids;
  for (const Json& agent : list_of(answer->json, "agents")) {
    ids.push_back(text_of(agent, "id"));
  }
  const auto near = nearest(wanted, {ids.begin(), ids.end()});
  if (!near.empty()) return "; did you mean " + std::string{near} + '?';
  if (ids.empty()) return "; there are no agents";
  auto list = joined(std::span{ids}.first(std::min(ids.size(), most_listed)));
  if (ids.size() > most_listed)
    list += " and " + std::to_string(ids.size() - most_listed) + " more";
  return "; there are: " + list;
}

// True if no option and no variable names a socket.
bool is_anywhere(const ControlOptions& options) {
  const char* variable = std::getenv("STILE_SOCKET");
  return options.socket.empty() && (variable == nullptr || *variable == 0);
}

CommandFailure refused(control::ControlClient& client, const Json& request, const Json& answer) {
  const Json& error = object_of(answer, "error");
  CommandFailure failure{failed, text_of(error, "code"), text_of(error, "message"), {}};
  if (failure.message.empty()) failure.message = "the daemon refused it without a reason";
  if (has(error, "hint")) {
    failure.advice = printable(text_of(error, "hint"));
  } else {
    failure.advice = advice_for(failure.code, request);
    failure.note = note_for(failure.code, request);
  }
  if (failure.code == "unknown-agent") {
    failure.message += known_agents(client, text_of(request, "agent"));
  }
  return failure;
}

}  // namespace

void add_control_options(Command& command, ControlOptions& options) {
  command.option("--socket", options.socket,
                 "the daemon's control socket (default: $STILE_SOCKET, else the config's)");
  command.option("--run", options.run, "the stile run of this process id, instead of a daemon")
      .shown_as("PID");
  command.flag("--json", options.json, "print JSON, for scripts");
}

CommandOutcome<control::ControlClient> connect(const ControlOptions& options, Access access,
                                               Peers peers) {
  if (!options.run.empty()) return connect_to_run(options.run);
  const auto paths = control::daemon_sockets(options.socket);
  auto client = cli::connect(paths);
  if (client) return client;
  if (peers == Peers::daemon_or_run && client.error().code == "no-daemon" && is_anywhere(options)) {
    if (auto run = connect_to_only_run()) return std::move(*run);
  }
  if (client.error().code != "no-permission") return client;
  if (const auto runs = own_runs(); !runs.empty() && is_anywhere(options)) {
    CommandFailure failure = client.error();
    failure.note = "for a stile run of your own, add:\n        " + runs;
    client = std::move(failure);
  }
  if (access == Access::change) return client;
  std::vector<std::string> siblings;
  for (const auto& path : paths) {
    siblings.push_back(std::filesystem::path{path}.replace_filename("read.sock").string());
  }
  auto reader = cli::connect(siblings);
  return reader ? std::move(reader) : std::move(client);
}

CommandOutcome<Answer> send_request(control::ControlClient& client, const Json& request) {
  return send_text(client, dump(request), request);
}

CommandOutcome<Answer> send_text(control::ControlClient& client, std::string_view text,
                                 const Json& request) {
  const auto line = client.ask(text);
  if (!line) return failure_of(line.error(), client.path());
  Json answer = Json::parse(*line);
  if (!answer.is_object()) {
    return CommandFailure{
        failed, "no-answer",
        "the daemon at " + client.path() + " gave an answer that is not a JSON object",
        "journalctl -u stiled -n 50"};
  }
  if (!flag_of(answer, "ok")) return refused(client, request, answer);
  return Answer{std::move(answer)};
}

std::string addressed(std::string command, const ControlOptions& options) {
  const bool is_named = !options.socket.empty() || !options.run.empty();
  const bool talks = command.starts_with("stile ") && command.find("--help") == std::string::npos;
  if (!is_named || !talks) return command;
  const auto end = std::min(command.find("   "), command.size());  // a remark follows three blanks
  return command.insert(end, options.run.empty() ? " --socket " + shell_word(options.socket)
                                                 : " --run " + shell_word(options.run));
}

int report(const CommandFailure& failure, const ControlOptions& options) {
  CommandFailure shown = failure;
  shown.advice = addressed(std::move(shown.advice), options);
  return print_failure(shown, options.json);
}

void print_rejected_cards(const Json& answer, const Terminal& terminal) {
  const Json& rejected = list_of(answer, "rejected_cards");
  for (const Json& card : rejected) {
    std::cout << terminal.coloured("  card refused: ", Colour::red)
              << Cell{text_of(card, "file")}.text << '\n';
    std::istringstream problems{text_of(card, "problem")};
    for (std::string problem; std::getline(problems, problem);) {
      std::cout << "    " << Cell{problem}.text << '\n';
    }
  }
  if (!rejected.empty()) std::cout << "  note: fix the cards, then: stile check && stile reload\n";
}

int ask(const ControlOptions& options, Access access, const Json& request, const Print& print) {
  auto client = connect(options, access);
  if (!client) return report(client.error(), options);
  const auto answer = send_request(*client, request);
  if (!answer) return report(answer.error(), options);
  if (!options.json) return print(answer->json, Terminal::of_output());
  return print_json(answer->json);
}

}  // namespace stile::cli
