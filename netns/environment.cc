// environment: the variables of a command that runs as an agent.
#include "netns/environment.h"

#include <algorithm>
#include <array>

namespace stile::netns {
namespace {

constexpr std::array<std::string_view, 6> proxy_names{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                                      "http_proxy", "https_proxy", "all_proxy"};
constexpr std::array<std::string_view, 2> no_proxy_names{"NO_PROXY", "no_proxy"};
// What the agent itself listens on is in its own namespace, and no business of the proxy.
constexpr std::string_view no_proxy = "localhost,127.0.0.1,::1";

// They name sockets and descriptors that the agent does not get, and where to ask for more.
constexpr std::array<std::string_view, 11> dropped_names{"DBUS_SESSION_BUS_ADDRESS",
                                                         "DBUS_SYSTEM_BUS_ADDRESS",
                                                         "DISPLAY",
                                                         "DOCKER_HOST",
                                                         "LISTEN_FDNAMES",
                                                         "LISTEN_FDS",
                                                         "LISTEN_PID",
                                                         "NOTIFY_SOCKET",
                                                         "SSH_AUTH_SOCK",
                                                         "WAYLAND_DISPLAY",
                                                         "XDG_RUNTIME_DIR"};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

std::vector<std::string> agent_environment(std::span<const std::string> given,
                                           std::string_view proxy, std::string_view home) {
  std::vector<std::string> ours;
  for (const auto name : proxy_names) ours.push_back(std::string{name} + "=" + std::string{proxy});
  for (const auto name : no_proxy_names) {
    ours.push_back(std::string{name} + "=" + std::string{no_proxy});
  }
  ours.emplace_back("NODE_USE_ENV_PROXY=1");
  if (!home.empty()) ours.push_back("HOME=" + std::string{home});
  std::vector<std::string> result;
  for (const auto& variable : given) {
    const auto name = name_of(variable);
    const bool is_dropped =
        std::find(dropped_names.begin(), dropped_names.end(), name) != dropped_names.end() ||
        std::any_of(ours.begin(), ours.end(),
                    [&](const std::string& own) { return name_of(own) == name; });
    if (!is_dropped) result.push_back(variable);
  }
  result.insert(result.end(), ours.begin(), ours.end());
  return result;
}

}  // namespace stile::netns
