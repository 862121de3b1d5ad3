// open_sockets: unix sockets that everybody on this host may connect to.
#include "netns/open_sockets.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace stile::netns {
namespace {

bool is_for_everybody(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) &&
         (status.st_mode & S_IWOTH) != 0;
}

}  // namespace

std::vector<std::string> socket_paths(std::string_view proc_net_unix) {
  std::vector<std::string> paths;
  while (!proc_net_unix.empty()) {
    const auto end = std::min(proc_net_unix.find('\n'), proc_net_unix.size());
    const auto line = proc_net_unix.substr(0, end);
    proc_net_unix.remove_prefix(std::min(end + 1, proc_net_unix.size()));
    // Seven columns without a slash come before it, and it may have blanks of its own.
    const auto at = line.find(" /");
    if (at != std::string_view::npos) paths.emplace_back(line.substr(at + 1));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<std::string> open_sockets() {
  std::ifstream file{"/proc/net/unix"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  auto paths = socket_paths(text);
  std::erase_if(paths, [](const std::string& path) { return !is_for_everybody(path); });
  return paths;
}

}  // namespace stile::netns
