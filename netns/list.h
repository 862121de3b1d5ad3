// list: the existing agents, as a table or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "base/result.h"
#include "netns/host.h"
#include "netns/table_state.h"

namespace stile::netns {

struct ListedAgent {
  Agent agent;
  std::string device;
  std::uint32_t root_uid = 0;  // of root inside, on the host
  std::string state;           // "ok", or the problem that a quick look finds
  std::optional<UnixMicros> expires;
  PacketCount passed, refused;
};

// A quick look at the records, the devices and the elements. `check` tests more.
[[nodiscard]] Result<std::vector<ListedAgent>> list_agents(FenceHost& host);

[[nodiscard]] std::string list_table(const std::vector<ListedAgent>& agents);
[[nodiscard]] std::string list_json(const std::vector<ListedAgent>& agents);

}  // namespace stile::netns
