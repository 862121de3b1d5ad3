// situation: asks the daemon for the facts that advice about an agent needs.
#include "cli/situation.h"

#include "cli/control_command.h"

namespace stile::cli {

Situation ask_situation(control::Client& client, const std::string& agent) {
  Situation situation;
  if (const auto status = send_request(client, {{"action", "status"}})) {
    situation.everybody_is_offline = text_of(status->json, "mode") == "offline";
  }
  if (agent.empty()) return situation;
  const auto answer = send_request(client, {{"action", "agent"}, {"agent", agent}});
  if (!answer) return situation;
  const Json& view = object_of(answer->json, "agent");
  const Json& policy = object_of(view, "policy");
  situation.entry = text_of(view, "entry");
  for (const Json& pattern : list_of(policy, "allow")) situation.allow.push_back(pattern.text());
  situation.has_only_allow_rules =
      number_of(policy, "allow_rules") == situation.allow.size() && list_of(policy, "deny").empty();
  return situation;
}

}  // namespace stile::cli
