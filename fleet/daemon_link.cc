// DaemonLink: one connection for each request.
#include "fleet/daemon_link.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/program.h"
#include "base/run_command.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "config/json_loader.h"
#include "control/client.h"
#include "control/daemon_sockets.h"

namespace stile::fleet {
namespace {

using config::Node;

// Compiling a large policy takes the daemon seconds.
constexpr std::chrono::seconds patience{60};
constexpr std::chrono::seconds replay_time{60};
constexpr std::size_t max_problem_bytes = 256;

const Node* member(const Node* node, std::string_view key) {
  const auto* table = node == nullptr ? nullptr : node->as<Node::Table>();
  if (table == nullptr) return nullptr;
  const auto found = std::find_if(table->begin(), table->end(),
                                  [&](const config::Member& one) { return one.key == key; });
  return found == table->end() ? nullptr : &found->value;
}

std::string text(const Node* node) {
  const auto* value = node == nullptr ? nullptr : node->as<std::string>();
  return value == nullptr ? std::string{} : *value;
}

std::int64_t number(const Node* node) {
  const auto* value = node == nullptr ? nullptr : node->as<std::int64_t>();
  return value == nullptr ? 0 : *value;
}

// The state does not fit into a request, so its text goes as a file.
Result<UniqueFd> file_of(const std::string& content) {
  UniqueFd file{::memfd_create("fleet", MFD_CLOEXEC)};
  if (!file || !write_all(file.get(), content) || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return system_error("a file in memory");
  }
  return file;
}

}  // namespace

Result<std::string> DaemonLink::ask(const std::string& line, int descriptor) const {
  control::ControlClient::Bounds bounds;
  bounds.patience = patience;
  bounds.max_line_bytes = 2 * config::max_fleet_bytes;
  std::string problem = "no control socket is known";
  for (const auto& path : control::daemon_sockets(socket_)) {
    auto client = control::ControlClient::connect(path, bounds);
    if (!client) {
      problem = client.error().message;
      continue;
    }
    auto answer = client->ask(line, descriptor);
    if (!answer) return Error{answer.error().message};
    return text_result(std::move(*answer));
  }
  return Error{problem};
}

Result<config::FleetState> DaemonLink::memory() const {
  const auto answer = ask(R"({"action":"fleet","memory":true})");
  if (!answer) return answer.error();
  const auto document = config::parse_json(*answer, "");
  const Node* top = document ? &*document : nullptr;
  if (!control::is_ok(*answer)) return Error{text(member(member(top, "error"), "message"))};
  return config::parse_fleet(text(member(top, "state")));
}

Handed DaemonLink::hand_over(const config::FleetState& state) const {
  const auto file = file_of(config::fleet_text(state));
  if (!file) return {Handed::Kind::away, file.error().message};
  const auto answer = ask(R"({"action":"fleet"})", file->get());
  if (!answer) return {Handed::Kind::away, answer.error().message};
  const auto document = config::parse_json(*answer, "");
  const Node* top = document ? &*document : nullptr;
  if (!control::is_ok(*answer)) {
    const Node* error = member(top, "error");
    const auto code = text(member(error, "code"));
    const bool is_refused = code == "config-error" || code == "bad-request";
    return {is_refused ? Handed::Kind::refused : Handed::Kind::away,
            text(member(error, "message"))};
  }
  Handed handed{Handed::Kind::done};
  handed.generation = static_cast<std::uint64_t>(number(member(top, "generation")));
  handed.agents = static_cast<std::uint64_t>(number(member(top, "agents")));
  const Node* list = member(top, "rejected");
  if (list == nullptr || list->as<Node::Array>() == nullptr) return handed;
  for (const auto& one : *list->as<Node::Array>()) {
    handed.rejected.push_back({text(member(&one, "name")), text(member(&one, "problem"))});
  }
  return handed;
}

void DaemonLink::report(bool is_connected) const {
  std::string line;
  JsonObject{line}.add("action", "fleet").add("connected", is_connected);
  static_cast<void>(ask(line));
}

std::optional<DaemonLink::Usage> DaemonLink::usage(const std::string& agent) const {
  std::string line;
  JsonObject{line}.add("action", "agent").add("agent", agent);
  const auto answer = ask(line);
  if (!answer || !control::is_ok(*answer)) return std::nullopt;
  const auto document = config::parse_json(*answer, "");
  const Node* agent_node = member(document ? &*document : nullptr, "agent");
  const Node* budget = member(member(agent_node, "budgets"), "bytes_up");
  if (member(budget, "slice") == nullptr) return std::nullopt;
  const Node* waiting = member(budget, "waiting");
  const auto* flag = waiting == nullptr ? nullptr : waiting->as<bool>();
  return Usage{static_cast<std::uint64_t>(number(member(budget, "used"))),
               flag != nullptr && *flag};
}

std::string DaemonLink::replay(const config::FleetState& state) const {
  const auto failure = [](const std::string& why) {
    std::string out;
    JsonObject{out}.add("error", why);
    return out;
  };
  const UniqueFd file{::memfd_create("candidate", 0)};  // the program opens it by number
  if (!file || !write_all(file.get(), config::fleet_text(state))) return failure("no memory");
  const std::string own = program_directory();
  std::string program = own + "/stile";
  if (::access(program.c_str(), X_OK) != 0) program = own + "/../bin/stile";
  std::vector<std::string> command{program, "fleet", "replay",
                                   "/proc/self/fd/" + std::to_string(file.get())};
  if (!socket_.empty()) command.insert(command.end(), {"--socket", socket_});
  auto said = run_command(std::move(command), 65536, replay_time);
  if (!said) return failure(said.error().message);
  while (said->ends_with('\n')) said->pop_back();
  return *said;
}

DaemonLink::Overview DaemonLink::overview() const {
  const auto answer = ask(R"({"action":"ping"})");
  if (!answer || !control::is_ok(*answer)) return {};
  const auto document = config::parse_json(*answer, "");
  const Node* top = document ? &*document : nullptr;
  const Node* fences = member(top, "containment");
  return {text(member(top, "version")), text(member(top, "mode")),
          static_cast<std::uint64_t>(number(member(fences, "checked"))),
          static_cast<std::uint64_t>(number(member(fences, "failed"))),
          text(member(fences, "problem")).substr(0, max_problem_bytes)};
}

}  // namespace stile::fleet
