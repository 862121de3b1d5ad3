// survey: collects the facts about this host that the plan of a view needs.
#include "confine/survey.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/contains.h"
#include "base/files.h"
#include "confine/hosts.h"
#include "confine/named_sockets.h"
#include "confine/paths.h"
#include "confine/place.h"

namespace stile::confine {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 17> system_places{
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store",
    "/gnu/store", "/nix/var/nix/profiles",
    // Parts of the system that some distributions keep at these paths.
    "/var/lib/ca-certificates", "/var/lib/dpkg", "/var/lib/gems", "/var/lib/texmf",
    "/var/cache/fontconfig"};

// Links of the system; NixOS reaches its programs through those in /run.
constexpr std::array<const char*, 4> system_links{"/run/current-system", "/run/booted-system",
                                                  "/run/opengl-driver", "/var/run"};

bool is_socket(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

void add_link(const fs::path& path, PlanRequest& request) {
  std::error_code failed;
  const auto text = fs::read_symlink(path, failed);
  if (failed) return;
  Symlink link{path.string(), text.string()};
  if (!contains(request.links, link)) {
    request.links.push_back(std::move(link));
  }
}

}  // namespace

Result<std::string> named_place(const std::string& path, const std::string& flag) {
  std::error_code failed;
  fs::path place = fs::absolute(path, failed).lexically_normal();
  if (!place.has_filename() && place.has_relative_path()) place = place.parent_path();
  if (place == "/") return Error{flag + " /: use --files host to show all files of the host"};
  if (auto refused = refuse_links(place.string(), flag); !refused) return refused.error();
  return text_result(place.string());
}

bool is_own(const std::string& path, const PlanRequest& request) {
  const auto holds = [&](const auto& directory) { return is_within(path, directory); };
  const bool is_home =
      std::any_of(request.homes.begin(), request.homes.end(),
                  [&](const auto& home) { return is_within(home, request.directory); });
  return (!is_home && !request.directory.empty() && holds(request.directory)) ||
         std::any_of(request.write.begin(), request.write.end(), holds);
}

std::string follow(const std::string& path, PlanRequest& request, bool* has_own_link) {
  constexpr int most_links = 40;
  fs::path real = "/";
  fs::path rest = fs::path{path}.lexically_normal().relative_path();
  for (int links = 0; !rest.empty();) {
    const fs::path next = *rest.begin();
    const fs::path after = rest.lexically_relative(next);
    const fs::path at = next == ".." ? real.parent_path() : real / next;
    std::error_code failed;
    if (next == "." || next.empty()) {
      rest = after;
    } else if (fs::is_symlink(fs::symlink_status(at, failed))) {
      if (++links > most_links) return {};
      add_link(at, request);
      if (has_own_link != nullptr && is_own(at.string(), request)) *has_own_link = true;
      const auto text = fs::read_symlink(at, failed);
      rest = after == "." ? text : text / after;
      if (text.is_absolute()) {
        real = "/";
        rest = rest.relative_path();
      }
      continue;
    } else {
      real = at;
    }
    rest = after == "." ? fs::path{} : after;
  }
  std::error_code failed;
  return fs::exists(real, failed) ? real.string() : std::string{};
}

void add_system(PlanRequest& request) {
  for (const fs::path path : system_places) {
    std::error_code failed;
    const auto status = fs::symlink_status(path, failed);
    if (fs::is_symlink(status)) {
      add_link(path, request);
    } else if (fs::is_directory(status)) {
      request.system.push_back(path.string());
    }
  }
  for (const fs::path path : system_links) add_link(path, request);
}

Result<void> add_sockets(const std::vector<std::string>& environment, PlanRequest& request) {
  const auto table = read_or_empty("/proc/net/unix");
  if (request.files == Files::host && !is_socket_table(table)) {
    return Error{"/proc/net/unix cannot be read, so the host's sockets cannot be hidden"};
  }
  auto candidates = bound_paths(table);
  for (auto& point : mount_points(read_or_empty("/proc/self/mountinfo"))) {
    candidates.push_back(std::move(point));
  }
  for (const auto& variable : environment) {
    const auto value =
        std::string_view{variable}.substr(std::min(variable.find('='), variable.size()));
    for (auto& path : paths_in(value)) candidates.push_back(std::move(path));
  }
  // A name may be gone while another name in the same directory refers to the socket: ssh creates
  // it under a temporary name and links it to the final one.
  std::set<std::string> directories;
  for (const auto& path : candidates) directories.insert(path.substr(0, path.rfind('/')));
  if (request.files == Files::host) {
    for (const auto& directory : directories) {
      std::error_code failed;
      for (fs::directory_iterator at{directory, failed}; !failed && at != fs::directory_iterator{};
           at.increment(failed)) {
        if (at->symlink_status(failed).type() == fs::file_type::socket) {
          candidates.push_back(at->path().string());
        }
      }
    }
  }
  std::set<std::string> found;
  for (const auto& path : candidates) {
    std::error_code failed;
    if (is_socket(path)) found.insert(fs::canonical(path, failed).string());
  }
  found.erase("");
  request.sockets.assign(found.begin(), found.end());
  return {};
}

void show_name_files(const std::string& resolver_text, View& view) {
  const auto show = [&](const fs::path& usual, std::string text) {
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(usual, failed))) return;
    const auto place = fs::weakly_canonical(usual, failed);  // /etc may have a link
    if (failed) return;
    view.mounts.push_back(
        {.target = place.string(), .content = MountContent::text, .text = std::move(text)});
  };
  show("/etc/resolv.conf", resolver_text);
  show(hosts_file, hosts_inside(read_or_empty(hosts_file)));
}

}  // namespace stile::confine
