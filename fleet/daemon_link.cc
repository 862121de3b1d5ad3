// DaemonLink: one connection for each request.
#include "fleet/daemon_link.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/json_value.h"
#include "base/program.h"
#include "base/run_command.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "control/daemon_sockets.h"

namespace stile::fleet {
namespace {

// Compiling a large policy takes the daemon seconds.
constexpr std::chrono::seconds patience{60};
constexpr std::chrono::seconds replay_time{60};
constexpr std::size_t max_problem_bytes = 256;

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
  const auto said = Json::parse(*answer);
  if (!control::is_ok(*answer)) return Error{text_of(object_of(said, "error"), "message")};
  return config::parse_fleet(text_of(said, "state"));
}

Handed DaemonLink::hand_over(const config::FleetState& state) const {
  const auto file = file_of(config::fleet_text(state));
  if (!file) return {Handed::Kind::away, file.error().message};
  const auto answer = ask(R"({"action":"fleet"})", file->get());
  if (!answer) return {Handed::Kind::away, answer.error().message};
  const auto said = Json::parse(*answer);
  if (!control::is_ok(*answer)) {
    const Json& error = object_of(said, "error");
    const auto code = text_of(error, "code");
    const bool is_refused = code == "config-error" || code == "bad-request";
    return {is_refused ? Handed::Kind::refused : Handed::Kind::away, text_of(error, "message")};
  }
  Handed handed{Handed::Kind::done};
  handed.generation = number_of(said, "generation");
  handed.agents = number_of(said, "agents");
  for (const Json& one : list_of(said, "rejected")) {
    handed.rejected.push_back({text_of(one, "name"), text_of(one, "problem")});
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
  const auto said = Json::parse(*answer);
  const Json& budget = object_of(object_of(object_of(said, "agent"), "budgets"), "bytes_up");
  if (budget.find("slice") == nullptr) return std::nullopt;
  return Usage{number_of(budget, "used"), flag_of(budget, "waiting")};
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
  const auto said = Json::parse(*answer);
  const Json& fences = object_of(said, "containment");
  return {text_of(said, "version"), text_of(said, "mode"), number_of(fences, "checked"),
          number_of(fences, "failed"), text_of(fences, "problem").substr(0, max_problem_bytes)};
}

}  // namespace stile::fleet
