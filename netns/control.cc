// control: the requests of stile-netns to the daemon.
#include "netns/control.h"

#include <chrono>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "control/client.h"

namespace stile::netns {
namespace {

// The daemon may have to read large lists. Its answer is only shown.
constexpr control::ControlClient::Bounds client_bounds{std::chrono::seconds{5},
                                                       std::size_t{1} << 20U};

// The daemon writes these members first, without blanks.
constexpr std::string_view unknown_agent = R"({"ok":false,"error":{"code":"unknown-agent")";

control::ClientResult<std::string> ask_daemon(const std::string& path, std::string_view request) {
  auto client = control::ControlClient::connect(path, client_bounds);
  if (!client) return client.error();
  return client->ask(request);
}

}  // namespace

std::string notify_daemon(const std::string& control_socket) {
  const std::string what = "the daemon did not reload its cards: ";
  const auto answer = ask_daemon(control_socket, R"({"action":"reload"})");
  if (!answer) {
    const bool is_absent = answer.error().kind == control::ClientError::Kind::absent;
    return is_absent ? "" : what + answer.error().message;
  }
  return control::is_ok(*answer) ? "" : what + "it says " + in_quotes(*answer);
}

std::string daemon_problem(const std::string& control_socket) {
  const auto answer = ask_daemon(control_socket, R"({"action":"ping"})");
  if (!answer) return answer.error().message;
  return control::is_ok(*answer) ? "" : "it says " + in_quotes(*answer);
}

void tell_daemon(const std::string& control_socket, const std::vector<std::string>& requests) {
  for (const auto& request : requests) {
    if (!ask_daemon(control_socket, request)) return;
  }
}

AgentTrust agent_trust(const std::string& control_socket, const std::string& id) {
  AgentTrust trust;
  const auto answer =
      ask_daemon(control_socket, R"({"action":"trust","agent":)" + json_text(id) + '}');
  if (!answer && answer.error().kind == control::ClientError::Kind::absent) return trust;
  if (!answer || !control::is_ok(*answer)) {
    trust.is_unknown = answer && answer->starts_with(unknown_agent);
    trust.problem = "programs will not trust opened hosts: " +
                    (answer ? "the daemon says " + in_quotes(*answer) : answer.error().message);
    return trust;
  }
  const auto document = config::parse_json(*answer, "the daemon's answer");
  if (!document) {
    trust.problem = document.error().text();
    return trust;
  }
  trust.ca = document->text("ca");
  const auto* variables = document->get<config::Node::Table>("environment");
  if (variables == nullptr) return trust;
  for (const auto& one : *variables) {
    const auto* placeholder = one.value.as<std::string>();
    if (placeholder != nullptr) trust.variables.push_back(one.key + '=' + *placeholder);
  }
  return trust;
}

std::string unknown_agent_problem(const std::string& control_socket, const std::string& id) {
  const auto answer =
      ask_daemon(control_socket, R"({"action":"agent","agent":)" + json_text(id) + '}');
  if (!answer) return answer.error().message;
  return control::is_ok(*answer) ? "" : "the daemon has no such agent";
}

}  // namespace stile::netns
