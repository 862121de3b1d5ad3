// list: the existing agents, as a table or JSON.
#include "netns/list.h"

#include <set>

#include "base/json.h"
#include "base/table.h"
#include "base/unix_time.h"
#include "netns/link.h"
#include "netns/ruleset.h"

namespace stile::netns {
namespace {

std::string state_of(const FenceHost& host, const FenceRecord& record, bool has_device,
                     const AgentElements& elements) {
  if (!record.is_complete) return "unfinished";
  if (!has_device) return "no device";
  if (!elements.passed || !elements.refused) return "not admitted";
  if (elements.is_captured != is_captured(host.setup.netns, record.agent)) return "not captured";
  return "ok";
}

}  // namespace

Result<std::vector<ListedAgent>> list_agents(FenceHost& host) {
  const auto records = host.records.all();
  if (!records) return records.error();
  const auto links = fence_links(host.route);
  if (!links) return links.error();
  const auto elements = read_all_elements(host.netfilter);
  if (!elements) return elements.error();
  std::set<std::string> devices;
  for (const auto& link : *links) devices.insert(link.name);
  std::vector<ListedAgent> agents;
  for (const auto& record : *records) {
    ListedAgent one;
    one.agent = record.agent;
    one.device = device_name(record.agent.id);
    if (const auto uids = uid_range(host.setup.netns.subnet, record.agent.address)) {
      one.root_uid = uids->first;
    }
    const auto found = elements->of(record.agent);
    one.state = state_of(host, record, devices.count(one.device) != 0, found);
    one.expires = expiry_of(record);
    one.passed = found.passed.value_or(PacketCount{});
    one.refused = found.refused.value_or(PacketCount{});
    agents.push_back(std::move(one));
  }
  return agents;
}

std::string list_table(const std::vector<ListedAgent>& agents) {
  if (agents.empty()) return "no agent has a namespace\n";
  Table table{{{"AGENT"},
               {"ADDRESS"},
               {"DEVICE"},
               {"UID"},
               {"PASSED"},
               {"REFUSED"},
               {"EXPIRES"},
               {"STATE"}}};
  for (const auto& one : agents) {
    table.add({one.agent.id, one.agent.address.text(), one.device, std::to_string(one.root_uid),
               std::to_string(one.passed.packets), std::to_string(one.refused.packets),
               one.expires ? time_text(*one.expires) : "-", one.state});
  }
  return table.text();
}

std::string list_json(const std::vector<ListedAgent>& agents) {
  std::string text = "[";
  const char* separator = "";
  for (const auto& one : agents) {
    text += separator;
    text += "{\"agent\":" + json_text(one.agent.id) +
            ",\"address\":" + json_text(one.agent.address.text()) +
            ",\"instance\":" + json_text(one.agent.instance) +
            ",\"captured\":" + (one.agent.is_captured ? "true" : "false") +
            ",\"device\":" + json_text(one.device) + ",\"uid\":" + std::to_string(one.root_uid) +
            ",\"passed_packets\":" + std::to_string(one.passed.packets) +
            ",\"passed_bytes\":" + std::to_string(one.passed.bytes) +
            ",\"refused_packets\":" + std::to_string(one.refused.packets) +
            ",\"refused_bytes\":" + std::to_string(one.refused.bytes);
    if (one.expires) text += ",\"expires\":" + json_text(time_text(*one.expires));
    text += ",\"state\":" + json_text(one.state) + "}";
    separator = ",\n ";
  }
  return text + "]\n";
}

}  // namespace stile::netns
