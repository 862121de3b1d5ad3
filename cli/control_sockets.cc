// Finds the daemon's control socket.
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "cli/control_client.h"
#include "config/embedded.h"
#include "config/load.h"

namespace stile::cli {
namespace {

// Users who may query the daemon may lack permission to read its config. Then the default path is
// used.
std::string configured_socket() {
  const auto text = read_or_empty(config::default_path);
  const auto settings = config::parse_settings(text, config::default_path);
  return !text.empty() && settings ? settings->server.control : config::ServerSettings{}.control;
}

}  // namespace

std::vector<std::string> control_sockets(const std::string& named) {
  if (!named.empty()) return {named};
  if (const char* variable = std::getenv("STILE_SOCKET"); variable != nullptr && *variable != 0) {
    return {variable};
  }
  struct stat status {};
  if (::stat(config::default_path, &status) == 0) return {configured_socket()};
  std::vector<std::string> paths{config::embedded_default().server.control};
  if (const auto usual = config::ServerSettings{}.control; usual != paths.front()) {
    paths.push_back(usual);
  }
  return paths;
}

}  // namespace stile::cli
