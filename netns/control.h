// control: the requests of stile-netns to the daemon.
#pragma once

#include <string>
#include <vector>

namespace stile::netns {

// Requests a reload and waits for the answer, so that the daemon knows a created agent when
// `create` returns. Empty: done, or there is no daemon (it reads the cards when it starts). Else a
// warning for people.
[[nodiscard]] std::string notify_daemon(const std::string& control_socket);

// Why the daemon does not answer, for people; empty: it does.
[[nodiscard]] std::string daemon_problem(const std::string& control_socket);

// Sends these requests until one is not answered; what the daemon answers does not matter.
void tell_daemon(const std::string& control_socket, const std::vector<std::string>& requests);

// What a command of this agent has to trust, and the placeholders of its secrets.
struct AgentTrust {
  std::string ca;                      // PEM; "": the agent has no opened hosts
  std::vector<std::string> variables;  // "NAME=placeholder"
  std::string problem;                 // for people; "": none, or there is no daemon
  bool is_unknown = false;             // the daemon has no such agent: it refused its card
};
[[nodiscard]] AgentTrust agent_trust(const std::string& control_socket, const std::string& id);

// Why the daemon does not serve this agent, for people; empty: it has its card.
[[nodiscard]] std::string unknown_agent_problem(const std::string& control_socket,
                                                const std::string& id);

}  // namespace stile::netns
