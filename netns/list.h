// list: the agents that there are, as a table or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acl/policy.h"
#include "acl/result.h"
#include "netns/host.h"
#include "netns/table_state.h"

namespace stile::netns {

struct Listed {
  Agent agent;
  std::string device;
  std::uint32_t root_uid = 0;  // of the host, that root inside is
  std::string state;           // "ok", or what is wrong as far as a glance tells
  std::optional<acl::UnixMicros> expires;
  Count passed, refused;
};

// A glance: the records, the devices and the elements. `check` looks closer.
[[nodiscard]] Result<std::vector<Listed>> list_agents(Host& host);

[[nodiscard]] std::string list_table(const std::vector<Listed>& agents);
[[nodiscard]] std::string list_json(const std::vector<Listed>& agents);

}  // namespace stile::netns
