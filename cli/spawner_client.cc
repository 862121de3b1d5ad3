// Asks stile-spawner, for the commands about workers.
#include "cli/spawner_client.h"

#include <algorithm>

#include "control/client.h"
#include "control/daemon_sockets.h"

namespace stile::cli {
namespace {

constexpr std::chrono::seconds longest_answer{90};
constexpr std::uint64_t wait_seconds = 30;
constexpr std::size_t most_kept_bytes = 256U << 10U;  // of the output of a task

CommandFailure failure_of_client(const control::ClientError& error, const std::string& path) {
  using Kind = control::ClientError::Kind;
  if (error.kind == Kind::absent) {
    return {no_daemon, "no-spawner", "no spawner at " + path,
            "systemctl enable --now stile-spawner.socket"};
  }
  if (error.kind == Kind::forbidden) {
    return {failed, "no-permission", "no permission to connect to the spawner at " + path,
            "sudo usermod -aG agent-users \"$USER\"   # then log in again"};
  }
  return {failed, "no-answer", "the spawner at " + path + " gave no answer",
          "journalctl -u stile-spawner -n 50"};
}

}  // namespace

void add_spawner_options(Command& command, SpawnerOptions& options) {
  command.option("--spawner", options.socket, "the spawner's socket (default: $STILE_SPAWNER)")
      .shown_as("PATH");
  command.flag("--json", options.json, "print JSON, for scripts");
}

CommandOutcome<Answer> ask_spawner(const SpawnerOptions& options, const Json& request) {
  const auto path = control::spawner_socket(options.socket);
  auto client = control::ControlClient::connect(path, {longest_answer});
  if (!client) return failure_of_client(client.error(), path);
  const auto line = client->ask(dump(request));
  if (!line) return failure_of_client(line.error(), path);
  Json answer = Json::parse(*line);
  if (!answer.is_object()) {
    return CommandFailure{failed, "no-answer", "the spawner at " + path + " gave an unknown answer",
                          ""};
  }
  if (has(answer, "error")) {
    const bool is_of_worker = text_of(request, "action") != "spawn";
    return CommandFailure{failed, "refused", text_of(answer, "error"),
                          is_of_worker ? "stile workers" : ""};
  }
  return Answer{std::move(answer)};
}

bool is_tagged(const Json& worker, const std::string& tag) {
  const auto& tags = list_of(worker, "tags");
  return std::any_of(tags.begin(), tags.end(), [&](const Json& one) { return one.text() == tag; });
}

CommandOutcome<Answer> follow_output(const SpawnerOptions& options, const FollowedTask& task,
                                     const ShowPiece& show) {
  Json request{{"action", "output"}, {"task_id", task.worker}};
  if (!task.run.empty()) request.set("run", Json::parse(task.run));
  if (task.until_end) request.set("wait_seconds", wait_seconds);
  std::size_t shown = 0;
  while (true) {
    auto answer = ask_spawner(options, request);
    if (!answer) return answer;
    show(answer->json);
    const auto size = text_of(answer->json, "output").size();
    shown += size;
    const bool is_over = text_of(answer->json, "status") != "running";
    if (size == 0 && (is_over || !task.until_end)) return answer;
    // A task can write faster than it is read. What there was at the first request has been shown.
    if (!is_over && !task.until_end && shown >= most_kept_bytes) return answer;
    request.set("cursor", number_of(answer->json, "cursor"));
    request.set("run", number_of(answer->json, "run"));  // a new task does not take its place
  }
}

}  // namespace stile::cli
