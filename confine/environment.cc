// environment: the variables of a command that runs as an agent.
#include "confine/environment.h"

#include <algorithm>
#include <array>

#include "confine/paths.h"

namespace stile::confine {
namespace {

constexpr std::array<std::string_view, 6> proxy_names{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                                      "http_proxy", "https_proxy", "all_proxy"};
constexpr std::array<std::string_view, 2> no_proxy_names{"NO_PROXY", "no_proxy"};
// The agent's own listeners are in its own namespace and do not need the proxy.
constexpr std::string_view no_proxy = "localhost,127.0.0.1,::1";

// Variables that name sockets outside, and the default socket if the value does not name it.
struct Lead {
  std::string_view name, place;
};
constexpr std::array<Lead, 25> leads{{{"DBUS_SESSION_BUS_ADDRESS", ""},
                                      {"DBUS_SYSTEM_BUS_ADDRESS", ""},
                                      {"DISPLAY", "/tmp/.X11-unix"},
                                      {"WAYLAND_DISPLAY", "/run/user"},
                                      {"WAYLAND_SOCKET", ""},
                                      {"XDG_RUNTIME_DIR", ""},
                                      {"DOCKER_HOST", "/run/docker.sock"},
                                      {"CONTAINER_HOST", "/run/podman"},
                                      {"CONTAINERD_ADDRESS", "/run/containerd"},
                                      {"BUILDKIT_HOST", ""},
                                      {"NIX_REMOTE", "/nix/var/nix/daemon-socket"},
                                      {"SSH_AUTH_SOCK", ""},
                                      {"SSH_AGENT_PID", ""},
                                      {"GPG_AGENT_INFO", ""},
                                      {"SESSION_MANAGER", "/tmp/.ICE-unix"},
                                      {"PULSE_SERVER", "/run/user"},
                                      {"TMUX", ""},
                                      {"STY", "/run/screen"},
                                      {"VSCODE_IPC_HOOK_CLI", ""},
                                      {"VSCODE_GIT_IPC_HANDLE", ""},
                                      {"NOTIFY_SOCKET", ""},
                                      {"STILE_SOCKET", ""},
                                      {"LISTEN_FDS", ""},
                                      {"LISTEN_PID", ""},
                                      {"LISTEN_FDNAMES", ""}}};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool is_shown(std::string_view path, std::span<const std::string> exposed) {
  return std::any_of(exposed.begin(), exposed.end(), [&](const auto& shown) {
    return is_within(path, shown) || is_within(shown, path);
  });
}

bool leads_outside(std::string_view variable, std::span<const std::string> exposed) {
  const auto name = name_of(variable);
  const auto* lead =
      std::find_if(leads.begin(), leads.end(), [&](const Lead& one) { return one.name == name; });
  if (lead == leads.end()) return false;
  auto places = paths_in(variable.substr(name.size()));
  if (places.empty() && !lead->place.empty()) places.emplace_back(lead->place);
  return std::none_of(places.begin(), places.end(),
                      [&](const auto& place) { return is_shown(place, exposed); });
}

// A temporary directory that does not exist inside.
bool is_lost_directory(std::string_view variable, std::span<const std::string> writable) {
  const auto name = name_of(variable);
  if (name != "TMPDIR" && name != "TMP" && name != "TEMP") return false;
  const auto path = variable.substr(std::min(name.size() + 1, variable.size()));
  return path != "/tmp" && path != "/var/tmp" &&
         std::none_of(writable.begin(), writable.end(),
                      [&](const auto& place) { return is_within(path, place); });
}

}  // namespace

std::vector<std::string> agent_environment(const Variables& wanted) {
  std::vector<std::string> ours;
  for (const auto name : proxy_names) {
    ours.push_back(std::string{name} + '=' + std::string{wanted.proxy});
  }
  for (const auto name : no_proxy_names) {
    ours.push_back(std::string{name} + '=' + std::string{no_proxy});
  }
  ours.emplace_back("NODE_USE_ENV_PROXY=1");
  ours.emplace_back("AGENT_IN_SANDBOX=1");
  ours.insert(ours.end(), wanted.more.begin(), wanted.more.end());
  if (!wanted.home.empty()) ours.push_back("HOME=" + std::string{wanted.home});
  std::vector<std::string> result;
  for (const auto& variable : wanted.given) {
    const auto name = name_of(variable);
    const bool is_dropped =
        leads_outside(variable, wanted.exposed) || is_lost_directory(variable, wanted.writable) ||
        std::any_of(ours.begin(), ours.end(),
                    [&](const std::string& own) { return name_of(own) == name; });
    if (!is_dropped) result.push_back(variable);
  }
  result.insert(result.end(), ours.begin(), ours.end());
  return result;
}

}  // namespace stile::confine
