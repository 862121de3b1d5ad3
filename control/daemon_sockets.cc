// daemon_sockets: options and variables first, then the config, then the usual paths.
#include "control/daemon_sockets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "config/embedded.h"
#include "config/load.h"

namespace stile::control {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Users who may query the daemon may lack permission to read its config. Then the default path is
// used.
std::string configured_socket() {
  const auto text = read_or_empty(config::default_path);
  const auto settings = config::parse_settings(text, config::default_path);
  return !text.empty() && settings ? settings->server.control : config::ServerSettings{}.control;
}

}  // namespace

std::vector<std::string> daemon_sockets(const std::string& named) {
  if (!named.empty()) return {named};
  if (const auto path = variable("STILE_SOCKET"); !path.empty()) return {path};
  struct stat status {};
  if (::stat(config::default_path, &status) == 0) return {configured_socket()};
  std::vector<std::string> paths{config::embedded_default().server.control};
  if (const auto usual = config::ServerSettings{}.control; usual != paths.front()) {
    paths.push_back(usual);
  }
  return paths;
}

std::vector<std::string> login_sockets(const std::string& named) {
  if (!named.empty()) return {named};
  if (const auto path = variable("STILE_WEB_SOCKET"); !path.empty()) return {path};
  std::vector<std::string> paths;
  const auto own = variable("XDG_RUNTIME_DIR");
  if (!own.empty() && ::geteuid() != 0) paths.push_back(own + "/stile-web.sock");
  paths.emplace_back("/run/stile-web/login.sock");
  return paths;
}

std::string spawner_socket(const std::string& named) {
  if (!named.empty()) return named;
  const char* variable = ::secure_getenv("STILE_SPAWNER");
  const bool is_set = variable != nullptr && *variable != '\0';
  return is_set ? variable : "/run/agent-spawner/spawner.sock";
}

}  // namespace stile::control
