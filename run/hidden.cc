// hidden: which parts of the host's file system the command does not see.
#include "run/hidden.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "netns/files.h"
#include "netns/keep.h"
#include "netns/paths.h"
#include "run/named_sockets.h"

namespace stile::run {
namespace {

namespace fs = std::filesystem;

constexpr mode_t for_all = 01777;

std::string read_text(const char* path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has_type(const std::string& path, mode_t type) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == type;
}

std::string canonical(const std::string& path) {
  std::error_code failed;
  auto real = fs::canonical(path, failed);
  return failed ? fs::absolute(path, failed).lexically_normal().string() : real.string();
}

// As it was named. A link on the way is not followed, here and when the view is made.
Result<std::string> exposed_place(const std::string& path) {
  std::error_code failed;
  fs::path place = fs::absolute(path, failed).lexically_normal();
  if (!place.has_filename() && place.has_relative_path()) place = place.parent_path();
  if (auto refused = netns::refuse_links(place.string(), "cannot expose"); !refused) {
    return refused.error();
  }
  return netns::text_result(place.string());
}

std::vector<HiddenDirectory> directories(const std::vector<std::string>& environment) {
  std::vector<HiddenDirectory> list{
      {"/run", 0755},
      {"/var/run", 0755},
      {"/tmp", for_all},
      {"/var/tmp", for_all},
      {"/dev/shm", for_all},
      {"/dev/mqueue", for_all},
      {"/nix/var/nix/daemon-socket", 0755},
      {"/var/lib/stile", 0755},
      {"/var/log/stile", 0755},
  };
  constexpr std::string_view runtime = "XDG_RUNTIME_DIR=/";
  for (const auto& variable : environment) {
    if (variable.starts_with(runtime)) {
      list.push_back({variable.substr(runtime.size() - 1), 0700});
    }
  }
  return list;
}

std::vector<std::string> sockets(const std::vector<std::string>& environment) {
  auto candidates = bound_paths(read_text("/proc/net/unix"));
  for (auto& point : mount_points(read_text("/proc/self/mountinfo"))) {
    candidates.push_back(std::move(point));
  }
  for (const auto& variable : environment) {
    const auto value =
        std::string_view{variable}.substr(std::min(variable.find('='), variable.size()));
    for (auto& path : netns::paths_in(value)) candidates.push_back(std::move(path));
  }
  std::set<std::string> found;
  for (const auto& path : candidates) {
    if (has_type(path, S_IFSOCK)) found.insert(canonical(path));
  }
  return {found.begin(), found.end()};
}

}  // namespace

Result<Hidden> choose_hidden(const Options& options, const std::vector<std::string>& environment,
                             const std::string& working_directory) {
  Hidden hidden;
  for (auto& directory : directories(environment)) {
    directory.path = canonical(directory.path);
    const bool is_known = std::any_of(
        hidden.directories.begin(), hidden.directories.end(),
        [&](const auto& other) { return netns::is_within(directory.path, other.path); });
    if (!is_known) hidden.directories.push_back(std::move(directory));
  }
  for (const auto& path : options.expose) {
    auto place = exposed_place(path);
    if (!place) return place.error();
    hidden.exposed.push_back(std::move(*place));
  }
  const auto is_exposed = [&](const std::string& path) {
    return std::any_of(hidden.exposed.begin(), hidden.exposed.end(),
                       [&](const auto& shown) { return netns::is_within(path, shown); });
  };
  hidden.files = sockets(environment);
  hidden.files.insert(hidden.files.end(), netns::machine_devices.begin(),
                      netns::machine_devices.end());
  if (options.connect) hidden.files.push_back(canonical(*options.connect));
  std::erase_if(hidden.files, is_exposed);
  // Even if exposed: the log is the evidence.
  if (options.audit && has_type(*options.audit, S_IFREG)) {
    hidden.files.push_back(canonical(*options.audit));
  }
  std::erase_if(hidden.directories,
                [&](const auto& directory) { return is_exposed(directory.path); });
  // The workspace is seen even if it lies in /tmp; but /tmp as a whole is no workspace.
  const bool is_below_hidden =
      std::any_of(hidden.directories.begin(), hidden.directories.end(), [&](const auto& directory) {
        return netns::is_within(working_directory, directory.path) &&
               working_directory != directory.path;
      });
  if (is_below_hidden && !is_exposed(working_directory)) {
    hidden.exposed.push_back(working_directory);
  }
  return hidden;
}

}  // namespace stile::run
