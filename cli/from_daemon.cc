// from_daemon: gets the audit log and the config from the daemon.
#include "cli/from_daemon.h"

#include <unistd.h>

#include <chrono>

#include "config/load.h"
#include "control/daemon_sockets.h"

namespace stile::cli {
namespace {

constexpr std::chrono::seconds patience_for_a_line{60};
constexpr std::string_view end_of_log = R"({"event":"end"})";

}  // namespace

CommandOutcome<void> read_daemon_log(const ControlOptions& options, bool with_rotated,
                                     const UseLine& use) {
  auto client = connect(options, Access::look);
  if (!client) return client.error();
  const Json request{{"action", "log"}, {"rotated", with_rotated}};
  if (const auto answer = send_request(*client, request); !answer) return answer.error();
  while (true) {
    const auto line = client->next_line(patience_for_a_line);
    if (!line) return failure_of(line.error(), client->path());
    if (!*line) {
      return CommandFailure{failed, "no-answer", "the daemon at " + client->path() + " hung up",
                            "journalctl -u stiled -n 50"};
    }
    if (**line == end_of_log) return {};
    use(**line);
  }
}

std::optional<std::string> other_config_in_use() {
  constexpr control::ControlClient::Bounds bounds{std::chrono::seconds{2}, std::size_t{1} << 20U};
  for (const auto& path : control::daemon_sockets({})) {
    auto client = control::ControlClient::connect(path, bounds);
    if (!client) continue;
    const auto line = client->ask(R"({"action":"status"})");
    if (!line) return std::nullopt;
    const auto file = text_of(Json::parse(*line), "config");
    // A relative name means nothing here.
    if (file.starts_with('/') && file != config::default_path) return file;
    return std::nullopt;
  }
  return std::nullopt;
}

CommandOutcome<DaemonConfig> read_daemon_config(const ControlOptions& options) {
  const CommandFailure no_help{failed, "no-config", "the daemon cannot help", {}};
  if (::geteuid() == 0) return no_help;
  auto client = connect(options, Access::look);
  if (!client) return client.error();
  const auto answer = send_request(*client, {{"action", "config"}, {"on_disk", true}});
  if (!answer) return answer.error();
  const Json& json = answer->json;
  return DaemonConfig{text_of(json, "file"), text_of(json, "digest"), text_of(json, "text"),
                      list_of(json, "rejected_cards")};
}

}  // namespace stile::cli
