// environment: the variables of the command.
#include "run/environment.h"

#include "netns/environment.h"
#include "run/loopback.h"

namespace stile::run {

std::vector<std::string> command_environment(const std::vector<std::string>& given,
                                             const std::vector<std::string>& exposed,
                                             const Identity& identity) {
  if (!identity.is_changed) return netns::agent_environment(given, proxy_url, {}, exposed);
  auto variables = netns::agent_environment(
      given, proxy_url, identity.home.empty() ? "/tmp" : identity.home, exposed);
  std::erase_if(variables, [](const std::string& variable) {
    return variable.starts_with("USER=") || variable.starts_with("LOGNAME=");
  });
  variables.push_back("USER=" + identity.name);
  variables.push_back("LOGNAME=" + identity.name);
  return variables;
}

}  // namespace stile::run
