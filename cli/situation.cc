// situation: asks the daemon for the facts that advice about an agent needs.
#include "cli/situation.h"

#include "acl/host.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

std::vector<std::string> texts_of(const Json& object, const char* key) {
  std::vector<std::string> texts;
  for (const Json& text : list_of(object, key)) texts.push_back(text.text());
  return texts;
}

std::vector<std::uint16_t> ports_of(const Json& object, const char* key) {
  std::vector<std::uint16_t> ports;
  for (const auto& text : texts_of(object, key)) {
    if (const auto port = acl::parse_port(text)) ports.push_back(*port);
  }
  return ports;
}

}  // namespace

CommandOutcome<Situation> ask_agent(control::ControlClient& client, const std::string& agent) {
  const auto answer = send_request(client, {{"action", "agent"}, {"agent", agent}});
  if (!answer) return answer.error();
  const Json& view = object_of(answer->json, "agent");
  const Json& policy = object_of(view, "policy");
  Situation situation;
  situation.entry = text_of(view, "entry");
  situation.allow = texts_of(policy, "allow");
  situation.deny = texts_of(policy, "deny");
  situation.revoked = texts_of(view, "revoked");
  situation.ports = ports_of(policy, "ports");
  situation.http_ports = ports_of(policy, "http_ports");
  situation.has_only_allow_rules =
      number_of(policy, "allow_rules") == situation.allow.size() && situation.deny.empty();
  return situation;
}

Situation ask_situation(control::ControlClient& client, const std::string& agent) {
  Situation situation;
  if (!agent.empty()) {
    auto known = ask_agent(client, agent);
    if (known) {
      situation = std::move(*known);
    } else {
      situation.is_gone = known.error().code == "unknown-agent";
    }
  }
  if (const auto status = send_request(client, {{"action", "status"}})) {
    situation.everybody_is_offline = text_of(status->json, "mode") == "offline";
    situation.fleet_is_offline = flag_of(object_of(status->json, "fleet"), "offline");
  }
  return situation;
}

}  // namespace stile::cli
