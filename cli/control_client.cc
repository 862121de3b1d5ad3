// Connects to the daemon, with advice if that fails.
#include "cli/control_client.h"

#include <grp.h>
#include <sys/stat.h>

#include <array>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/quoted.h"
#include "cli/command.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

// A reload of a million rules takes seconds; if it takes longer than this, something is wrong. A
// list of many agents takes megabytes; a faulty daemon must not use up all memory.
constexpr control::ControlClient::Bounds client_bounds{std::chrono::seconds{120},
                                                       std::size_t{256} << 20U};

std::string group_name(gid_t id) {
  std::array<char, 16384> buffer{};
  struct group entry {};
  struct group* found = nullptr;
  ::getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->gr_name : std::to_string(id);
}

CommandFailure no_permission(const std::string& path) {
  CommandFailure failure{
      failed, "no-permission", "no permission to connect to the daemon at " + path, {}};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (status.st_gid == 0) {  // never advise a user to join root's group
      failure.message += ": only root may";
      failure.advice = as_root();
      return failure;
    }
    const auto group = printable(group_name(status.st_gid));
    failure.message += ": only root and the group " + group + " may";
    failure.advice =
        "sudo usermod -aG " + group + " \"$USER\"   # then log in again; or: " + as_root();
  } else {
    failure.message += ": you cannot enter its directory";
    failure.advice = as_root();
  }
  return failure;
}

CommandFailure no_daemon_at(const std::vector<std::string>& paths) {
  std::string message = "no daemon at ";
  for (const auto& path : paths) {
    if (&path != &paths.front()) message += ", nor at ";
    message += printable(path);
  }
  return {no_daemon, "no-daemon", std::move(message),
          "systemctl status stiled   # or name its socket: --socket PATH"};
}

}  // namespace

CommandFailure failure_of(const control::ClientError& error, const std::string& path) {
  if (error.kind == control::ClientError::Kind::absent) return no_daemon_at({path});
  if (error.kind == control::ClientError::Kind::forbidden) return no_permission(path);
  return {failed, "no-answer", printable(error.message), "journalctl -u stiled -n 50"};
}

CommandOutcome<control::ControlClient> connect(const std::vector<std::string>& paths) {
  std::optional<CommandFailure> problem;
  for (const auto& path : paths) {
    auto client = control::ControlClient::connect(path, client_bounds);
    if (client) return std::move(*client);
    if (problem || client.error().kind == control::ClientError::Kind::absent) continue;
    problem = failure_of(client.error(), path);
  }
  return problem ? *problem : no_daemon_at(paths);
}

int print_json(const Json& value) {
  std::cout << dump(value) << '\n';
  return fine;
}

int print_failure(const CommandFailure& failure, bool is_json) {
  std::cout.flush();
  // The message may contain text from agents, so it is escaped. Line by line: several errors in a
  // config are several lines.
  std::istringstream lines{failure.message};
  std::string_view before = "stile: ";
  for (std::string line; std::getline(lines, line); before = "  ") {
    std::cerr << before << printable(line) << '\n';
  }
  if (!failure.advice.empty()) std::cerr << "  next: " << failure.advice << '\n';
  if (!failure.note.empty()) std::cerr << "  note: " << failure.note << '\n';
  if (is_json) {
    const Json error{{"code", failure.code}, {"message", failure.message}};
    std::cout << dump({{"ok", false}, {"error", error}}) << '\n';
  }
  return failure.status;
}

}  // namespace stile::cli
