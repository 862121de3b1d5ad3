// What all commands that talk to the daemon have in common.
#include "cli/control_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "acl/quoted.h"
#include "config/diagnostics.h"
#include "config/nearest.h"

namespace stile::cli {
namespace {

// A reload of a million rules takes seconds; longer than this, something is wrong.
constexpr int patience_seconds = 120;

std::string advice_for(const std::string& code, const Json& request) {
  const std::string action = text_of(request, "action");
  if (code == "unknown-agent") return "stile agents";
  if (code == "forbidden") return "sudo stile …   (the socket you may use is for looking only)";
  if (code == "denied-by-rule") {
    return "remove the deny rule from the config, then: stile check && stile reload";
  }
  if (code == "config-error") {
    return action == "put-agent" ? "mend the card; nothing was changed"
                                 : "stile check   (nothing was changed)";
  }
  if (code == "conflict") return "stile agents";
  if (code == "internal") return "journalctl -u stiled -n 50";
  if (code == "unknown-action") return "stiled --version; stile --version   (do they differ?)";
  return "stile " + (action.empty() ? std::string{} : action + ' ') + "--help";
}

// "alfa" may be a slip for an agent that is there.
std::string nearest_agent(ControlClient& client, const std::string& wanted) {
  const auto answer = send_request(client, {{"action", "agents"}});
  if (!answer) return {};
  std::vector<std::string> ids;
  for (const Json& agent : list_of(answer->json, "agents")) {
    ids.push_back(text_of(agent, "id"));
  }
  return std::string{config::nearest(wanted, {ids.begin(), ids.end()})};
}

Failure refused(ControlClient& client, const Json& request, const Json& answer) {
  const Json& error = object_of(answer, "error");
  Failure failure{failed, text_of(error, "code"), text_of(error, "message"), {}};
  failure.advice = advice_for(failure.code, request);
  if (failure.code == "unknown-agent") {
    const auto near = nearest_agent(client, text_of(request, "agent"));
    if (!near.empty()) failure.message += "; did you mean " + near + '?';
  }
  return failure;
}

}  // namespace

void add_control_options(CLI::App& command, ControlOptions& options) {
  command.add_option("--socket", options.socket,
                     "the daemon's control socket (default: $STILE_SOCKET, else the config's)");
  command.add_flag("--json", options.json, "print the daemon's answer as JSON");
}

Outcome<ControlClient> connect(const ControlOptions& options, Access access) {
  const auto paths = control_sockets(options.socket);
  auto client = ControlClient::connect(paths);
  if (client || access == Access::change || client.error().code != "no-permission") return client;
  std::vector<std::string> siblings;
  for (const auto& path : paths) {
    siblings.push_back(std::filesystem::path{path}.replace_filename("read.sock").string());
  }
  auto reader = ControlClient::connect(siblings);
  return reader ? std::move(reader) : std::move(client);
}

Outcome<Answer> send_request(ControlClient& client, const Json& request) {
  return send_text(client, dump(request), request);
}

Outcome<Answer> send_text(ControlClient& client, std::string_view text, const Json& request) {
  if (const auto sent = client.send(text); !sent) return sent.error();
  const auto line = client.next_line(patience_seconds);
  if (!line) return line.error();
  const auto no_answer = [&](const std::string& what) {
    return Failure{failed, "no-answer", "the daemon at " + client.path() + ' ' + what,
                   "journalctl -u stiled -n 50"};
  };
  if (!*line) return no_answer("hung up without an answer");
  Json answer = Json::parse(**line, nullptr, false);
  if (!answer.is_object()) return no_answer("gave an answer that is no JSON object");
  if (!flag_of(answer, "ok")) return refused(client, request, answer);
  return Answer{std::move(answer)};
}

int report(const Failure& failure, const ControlOptions& options) {
  std::cout.flush();
  // Agents' words may be in the message; escaped they are harmless.
  std::cerr << "stile: " << config::printable(failure.message) << '\n';
  if (!failure.advice.empty()) std::cerr << "  next: " << failure.advice << '\n';
  if (options.json) {
    const Json error{{"code", failure.code}, {"message", failure.message}};
    std::cout << dump({{"ok", false}, {"error", error}}) << '\n';
  }
  return failure.status;
}

int ask(const ControlOptions& options, Access access, const Json& request, const Print& print) {
  auto client = connect(options, access);
  if (!client) return report(client.error(), options);
  const auto answer = send_request(*client, request);
  if (!answer) return report(answer.error(), options);
  if (!options.json) return print(answer->json, Terminal::of_output());
  std::cout << dump(answer->json) << '\n';
  return fine;
}

}  // namespace stile::cli
