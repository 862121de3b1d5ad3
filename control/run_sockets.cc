// run_sockets: the sockets where each `stile run` listens for its operator.
#include "control/run_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>

#include "base/files.h"
#include "base/local_socket.h"
#include "base/unique_fd.h"
#include "config/embedded.h"

namespace stile::control {
namespace {

constexpr std::string_view run_prefix = "run-", run_suffix = ".sock";
constexpr std::size_t most_command_bytes = 4096;

// The name in "run-NAME.sock"; empty for any other file.
std::string name_in(const std::string& file) {
  if (!file.starts_with(run_prefix) || !file.ends_with(run_suffix)) return {};
  if (file.size() <= run_prefix.size() + run_suffix.size()) return {};
  return file.substr(run_prefix.size(), file.size() - run_prefix.size() - run_suffix.size());
}

UniqueFd connect_without_waiting(const std::string& path) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (connect_unix(fd.get(), path)) return fd;
  if (errno == ECONNREFUSED) ::unlink(path.c_str());
  return {};
}

std::string command_of(const UniqueFd& peer) {
  const auto credentials = peer_credentials(peer.get());
  if (!credentials) return {};
  auto words = read_or_empty("/proc/" + std::to_string(credentials->pid) + "/cmdline");
  words.resize(std::min(words.size(), most_command_bytes));
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

}  // namespace

std::string run_socket_folder() {
  return std::filesystem::path{config::embedded_default().server.control}.parent_path().string();
}

std::string run_socket_path(const std::string& folder, const std::string& name) {
  return folder + '/' + std::string{run_prefix} + name + std::string{run_suffix};
}

std::vector<RunSocket> live_runs(const std::string& folder) {
  std::vector<RunSocket> runs;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator{folder, failed}) {
    const auto name = name_in(entry.path().filename().string());
    if (name.empty()) continue;
    const auto peer = connect_without_waiting(entry.path().string());
    if (peer) runs.push_back({name, entry.path().string(), command_of(peer)});
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return runs;
}

}  // namespace stile::control
