// fleet_replay: the daemon compiles the candidate; its log and its connections are judged here.
#include "cli/fleet_replay.h"

#include <fcntl.h>

#include <memory>

#include "base/json_value.h"
#include "base/unique_fd.h"
#include "cli/from_daemon.h"
#include "cli/replay.h"
#include "cli/used_config.h"

namespace stile::cli {
namespace {

constexpr std::size_t max_examples = 10;

std::uint64_t requests_in(const std::vector<ReplayRow>& rows) {
  std::uint64_t count = 0;
  for (const auto& row : rows) count += row.count;
  return count;
}

Json examples_of(const std::vector<ReplayRow>& rows) {
  Json list = Json::list();
  for (std::size_t i = 0; i < rows.size() && i < max_examples; ++i) {
    list.add({{"agent", rows[i].agent}, {"target", rows[i].target}, {"requests", rows[i].count}});
  }
  return list;
}

// Open connections that pass now and would not.
CommandOutcome<std::uint64_t> count_cut(control::ControlClient& client, const Judge& before,
                                        const Judge& after) {
  const auto answer = send_request(client, {{"action", "connections"}});
  if (!answer) return answer.error();
  std::uint64_t cut = 0;
  for (const auto& one : list_of(answer->json, "connections")) {
    SeenTarget target;
    target.agent = text_of(one, "agent");
    target.host = text_of(one, "host");
    target.port = static_cast<std::uint16_t>(number_of(one, "port"));
    const auto now = before.judge(target, {});
    if (!now) return now.error();
    const auto then = after.judge(target, {});
    if (!then) return then.error();
    if (now->passes() && !then->passes()) ++cut;
  }
  return CommandOutcome<std::uint64_t>{boost::system::in_place_value, cut};
}

CommandOutcome<Json> judge_candidate(const std::string& file, const ControlOptions& options) {
  const UniqueFd candidate{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!candidate) return CommandFailure{failed, "no-file", "cannot read " + file, {}};
  auto connected = connect(options, Access::change, Peers::daemon);
  if (!connected) return connected.error();
  const auto client = std::make_shared<control::ControlClient>(std::move(*connected));
  const auto answer = client->ask(R"({"action":"fleet","try":true})", candidate.get());
  if (!answer) return failure_of(answer.error(), client->path());
  const Json given = Json::parse(*answer);
  if (!flag_of(given, "ok")) {
    const Json& error = object_of(given, "error");
    return CommandFailure{failed, text_of(error, "code"), text_of(error, "message"), {}};
  }
  const auto config = config_of_text(text_of(given, "text"), "candidate");
  if (!config) return config.error();
  Seen seen;
  const auto read =
      read_daemon_log(options, false, [&](std::string_view line) { seen.add_line(line); });
  if (!read) return read.error();
  const auto before = judge_of_daemon(client);
  const auto after = judge_of_config(config->name, config->policies);
  const auto result = replay(seen, before, after);
  if (!result) return result.error();
  const auto cut = count_cut(*client, before, after);
  if (!cut) return cut.error();
  return Json{{"requests", result->requests},
              {"allowed", requests_in(result->allowed)},
              {"refused", requests_in(result->refused)},
              {"cut", *cut},
              {"newly_allowed", examples_of(result->allowed)},
              {"newly_refused", examples_of(result->refused)}};
}

}  // namespace

// Also a failure is a result: it goes to the person who tries the policy.
int replay_candidate(const std::string& file, const ControlOptions& options) {
  const auto result = judge_candidate(file, options);
  return print_json(result ? *result : Json{{"error", result.error().message}});
}

}  // namespace stile::cli
