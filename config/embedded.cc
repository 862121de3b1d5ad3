// The settings of a daemon that is started without a config file.
#include "config/embedded.h"

#include <unistd.h>

#include <cstdlib>

namespace stile::config {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Settings embedded_default(const Surroundings& surroundings) {
  Settings settings;
  settings.agents.directories.clear();
  settings.server.control_group.clear();  // the group of the package may not exist here
  if (!surroundings.is_root) {
    settings.server.state_dir = surroundings.state_home + "/stile";
    // A socket in /tmp could belong to another user; the state directory belongs to this user.
    settings.server.control = surroundings.runtime_dir.empty()
                                  ? settings.server.state_dir + "/control.sock"
                                  : surroundings.runtime_dir + "/stile/control.sock";
  }
  AgentSettings local;
  local.id = "local";
  local.place.file = embedded_name;
  local.source = {{acl::Address::v4(0x7f000000), 8},
                  {acl::Address::v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), 128}};
  using Kind = acl::Pattern::Kind;
  local.allow = {{{Kind::suffix, acl::Pattern::Reach::bare, 0, "anthropic.com"}, 0},
                 {{Kind::suffix, acl::Pattern::Reach::bare, 0, "openai.com"}, 0},
                 {{Kind::exact, acl::Pattern::Reach::bare, 0, "api.github.com"}, 0}};
  settings.agent.push_back(std::move(local));
  return settings;
}

Settings embedded_default() {
  auto state_home = environment("XDG_STATE_HOME");
  if (state_home.empty()) state_home = environment("HOME") + "/.local/state";
  return embedded_default({::geteuid() == 0, environment("XDG_RUNTIME_DIR"), state_home});
}

}  // namespace stile::config
