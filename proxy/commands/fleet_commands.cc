// Commands: what stile-fleet hands over, and what is known of the fleet.
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "proxy/commands/answers.h"
#include "proxy/commands/commands.h"

namespace stile::commands {
namespace {

using control::ErrorCode, control::Failure;

// stile-fleet reports every few seconds; a later one counts as an end.
constexpr std::chrono::seconds longest_silence{15};
constexpr std::string_view from_fleet = "fleet:";

// A regular file only, such as a memfd: reading it cannot block.
Result<config::FleetState> read_state(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{"the descriptor is not a file"};
  }
  const auto text = read_all(descriptor, config::max_fleet_bytes);
  if (!text) return text.error();
  return config::parse_fleet(*text);
}

// With the agents of the fleet that conflict with this host's files.
std::string answer_text(const control::PolicyEditor& editor, bool with_objects) {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true).add("generation", editor.policy().snapshot()->generation());
    object.add("offline", editor.policy().is_fleet_offline());
    object.add("agents", editor.policy().agents().size());
    {
      JsonArray rejected{object.key("rejected")};
      for (const auto& card : editor.policy().base().loaded.cards.rejected) {
        if (!card.file.starts_with(from_fleet)) continue;
        JsonObject member{rejected.next()};
        member.add("name", "policy/" + card.file.substr(from_fleet.size()));
        member.add("agent", card.id).add("problem", card.problems.text());
      }
    }
    if (with_objects) object.add("state", config::fleet_text(editor.fleet()));
  }
  return out;
}

}  // namespace

void Commands::fleet(const Request& request, const Client& client) {
  const auto now = std::chrono::steady_clock::now();
  if (request.connected) {
    if (!fleet_link_) fleet_link_ = FleetLink{false, now, started_};
    fleet_link_->is_connected = *request.connected;
    fleet_link_->last_report = now;
    if (*request.connected) fleet_link_->last_contact = now;
  }
  const auto reply = [this, client, memory = request.memory] {
    client->answer(answer_text(editor_, memory));
  };
  const UniqueFd descriptor = client->take_descriptor();
  if (!descriptor) return reply();
  // stile-fleet verifies the signatures, so no other user may set the state.
  const uid_t uid = client->peer().uid;
  if (uid != 0 && uid != ::geteuid() && !(daemon_.fleet_user && daemon_.fleet_user->id == uid)) {
    return client->fail(
        {ErrorCode::forbidden, "only root and stile-fleet hand over a fleet's policy"});
  }
  auto state = read_state(descriptor.get());
  if (!state) return client->fail({ErrorCode::bad_request, state.error().message});
  if (request.is_trial) {
    return editor_.try_fleet(std::move(state->layer),
                             [client](const control::Outcome<control::WrittenConfig>& config) {
                               if (config) return client->answer(json(*config));
                               client->fail(config.error());
                             });
  }
  editor_.set_fleet(std::move(*state), client->peer().name,
                    [client, reply](const control::Outcome<void>& outcome) {
                      if (outcome) return reply();
                      client->fail(outcome.error());
                    });
}

std::optional<FleetView> Commands::fleet_view() const {
  const auto& state = editor_.fleet();
  if (!fleet_link_ && state == config::FleetState{}) return std::nullopt;
  FleetView view;
  const auto now = std::chrono::steady_clock::now();
  const auto last = fleet_link_ ? fleet_link_->last_contact : started_;
  view.age_seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last).count();
  view.is_connected =
      fleet_link_ && fleet_link_->is_connected && now - fleet_link_->last_report < longest_silence;
  view.is_offline = editor_.policy().is_fleet_offline();
  for (const auto& object : state.objects) view.serials[object.name] = object.serial;
  view.refused = state.refused;
  return view;
}

}  // namespace stile::commands
