// plan: decides what a command sees of the host's files, from values alone.
#include "confine/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/contains.h"
#include "confine/paths.h"

namespace stile::confine {
namespace {

constexpr mode_t for_everybody = 01777;

// Empty and writable for the command: services create their sockets here, also later, and all users
// share these directories.
struct OwnPlace {
  std::string_view path;
  mode_t mode;
};
constexpr std::array<OwnPlace, 3> own_places{
    {{"/run", 0755}, {"/tmp", for_everybody}, {"/var/tmp", for_everybody}}};

// Parts of the system that are hidden from a command, even where its user may read them.
constexpr std::array<std::string_view, 10> hidden_parts{"/etc/stile",
                                                        "/var/lib/stile",
                                                        "/var/log/stile",
                                                        "/etc/shadow",
                                                        "/etc/gshadow",
                                                        "/etc/ssl/private",
                                                        "/etc/krb5.keytab",
                                                        "/etc/wireguard",
                                                        "/etc/NetworkManager/system-connections",
                                                        "/nix/var/nix/daemon-socket"};

// Below these a working directory is writable, although they belong to the system.
constexpr std::array<std::string_view, 3> source_places{"/opt", "/usr/src", "/usr/local/src"};

bool is_strictly_within(std::string_view path, std::string_view directory) {
  return path != directory && is_within(path, directory);
}

template <class Paths>
bool holds_any(std::string_view directory, const Paths& paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const auto& path) { return is_within(path, directory); });
}

bool is_home(const PlanRequest& request) {
  return holds_any(request.directory, request.homes) ||
         (!request.home.empty() && is_within(request.home, request.directory));
}

// Whether the working directory is shown, and is writable as far as its permissions allow.
bool is_workspace(const PlanRequest& request) {
  const auto& directory = request.directory;
  constexpr std::array<std::string_view, 3> of_the_kernel{"/proc", "/sys", "/dev"};
  if (directory == "/" || is_home(request) || is_within_any(directory, of_the_kernel) ||
      is_within_any(directory, request.hidden) || is_within_any(directory, hidden_parts) ||
      std::any_of(own_places.begin(), own_places.end(),
                  [&](const OwnPlace& place) { return is_within(place.path, directory); })) {
    return false;
  }
  if (std::any_of(source_places.begin(), source_places.end(),
                  [&](auto place) { return is_strictly_within(directory, place); })) {
    return true;
  }
  return !is_within_any(directory, request.system) && !holds_any(directory, request.system);
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request) : request_{request} {
    view_.files = request.files;
    view_.links = request.links;
  }

  View plan() {
    const bool is_view = request_.files == Files::view;
    add_kernel_places();
    for (const auto& place : own_places) add_empty(std::string{place.path}, place.mode);
    add_empty("/dev/shm", for_everybody);
    if (is_view) {
      for (const auto& path : request_.system) add({path});
      for (const auto& path : request_.programs) add({path, {}, false, false, Search::top});
      if (is_home_free()) add_empty(request_.home, 0700);
    } else {
      add({"/", MountContent::bind, true});
    }
    if (is_workspace(request_)) add_workspace(is_view ? Search::all : Search::sockets);
    add_named();
    for (auto& [path, mount] : mounts_) view_.mounts.push_back(mount);  // sorted: parents first
    add_covers();
    add_pins();
    choose_directory();
    return std::move(view_);
  }

 private:
  // A later mount at the same path replaces an earlier one.
  void add(Mount mount) { mounts_[mount.target] = mount; }
  void add_empty(const std::string& path, mode_t mode) {
    add({path, MountContent::empty, true, false, Search::none, mode});
  }

  void add_kernel_places() {
    add({"/proc", MountContent::proc});
    add({"/sys", MountContent::sys});
    add({"/dev", MountContent::devices});
  }

  // Where the command sees a path of the host.
  [[nodiscard]] std::string seen_at(const std::string& path) const {
    const auto& [directory, at] = std::tie(request_.directory, request_.directory_at);
    if (at.empty() || !is_within(path, directory)) return path;
    return at + path.substr(directory.size());
  }

  void add_workspace(Search search) {
    const auto& directory = request_.directory;
    const bool is_writable = request_.workspace == Workspace::writable;
    if (request_.workspace == Workspace::none) {
      add_empty(seen_at(directory), 0755);
    } else {
      add(shown(directory, is_writable, search));
    }
  }

  void add_named() {
    const auto search = request_.files == Files::view ? Search::all : Search::sockets;
    for (const auto& path : request_.read) add_named(path, false, search);
    for (const auto& path : request_.write) add_named(path, true, search);
    for (const auto& path : request_.expose) add_named(path, true, Search::none);
  }
  void add_named(const std::string& path, bool is_writable, Search search) {
    auto mount = shown(path, is_writable, search);
    mount.is_named = true;
    add(std::move(mount));
  }
  [[nodiscard]] Mount shown(const std::string& path, bool is_writable, Search search) const {
    Mount mount{seen_at(path), {}, is_writable, false, search};
    if (mount.target != path) mount.source = path;
    return mount;
  }

  // A separate home, unless the path is already in use: HOME=/tmp, HOME=/, HOME=/usr/games.
  [[nodiscard]] bool is_home_free() const {
    const auto& home = request_.home;
    return !home.empty() && home != "/" && !mounts_.contains(home) &&
           !is_within_any(home, request_.system) && !holds_any(home, request_.system) &&
           std::none_of(own_places.begin(), own_places.end(),
                        [&](const OwnPlace& place) { return is_within(place.path, home); });
  }

  [[nodiscard]] bool is_exposed(std::string_view path) const {
    return is_within_any(path, request_.expose);
  }

  [[nodiscard]] bool is_bound(std::string_view path) const {
    const auto* mount = view_.mount_of(path);
    return mount != nullptr && mount->content == MountContent::bind;
  }

  // A service may remove its socket and bind it again, and a mount on a removed file is lost. So in
  // the system's directories, the directory around the socket is covered if it belongs to the
  // service.
  [[nodiscard]] std::string cover_of(const std::string& socket) const {
    const auto* mount = view_.mount_of(socket);
    const std::string parent = socket.substr(0, socket.rfind('/'));
    const bool is_own_directory = mount->search == Search::none && mount->target != "/" &&
                                  is_strictly_within(parent, mount->target) &&
                                  parent.substr(0, parent.rfind('/')) != "/usr" &&
                                  !holds_any(parent, request_.programs) &&
                                  !is_within(seen_at(request_.directory), parent);
    return is_own_directory ? parent : socket;
  }

  void add_covers() {
    const auto add_cover = [&](std::string path) {
      if (!contains(view_.covers, path)) {
        view_.covers.push_back(std::move(path));
      }
    };
    for (const auto part : hidden_parts) {
      if (is_bound(part) && !is_exposed(part)) add_cover(std::string{part});
    }
    for (const auto& path : request_.hidden) {
      if (is_bound(seen_at(path)) && !is_exposed(path)) add_cover(seen_at(path));
    }
    for (const auto& path : request_.sockets) {
      const auto socket = seen_at(path);
      if (is_bound(socket) && !is_exposed(path)) add_cover(cover_of(socket));
    }
    // Even if it is exposed: the log is evidence.
    if (const auto log = seen_at(request_.log); !log.empty() && is_bound(log)) add_cover(log);
    // Likewise: a process that can talk to it controls what the command may reach.
    const auto control = seen_at(request_.control);
    if (!control.empty() && is_bound(control)) add_cover(control);
    for (const auto& path : request_.private_files) {
      if (is_bound(seen_at(path))) add_cover(seen_at(path));
    }
  }

  // A mount point cannot be renamed. Without this, the command could rename a directory above the
  // log and put its own log in the old place.
  void add_pins() {
    const auto log = seen_at(request_.log);
    for (std::size_t at = log.find('/', 1); at != std::string::npos; at = log.find('/', at + 1)) {
      const auto directory = log.substr(0, at);
      const bool is_movable =
          std::any_of(view_.mounts.begin(), view_.mounts.end(), [&](const Mount& mount) {
            return mount.content == MountContent::bind && mount.is_writable &&
                   is_strictly_within(directory, mount.target);
          });
      if (is_movable && !mounts_.contains(directory) && is_bound(directory)) {
        view_.pins.push_back(directory);
      }
    }
  }

  void choose_directory() {
    const auto directory = seen_at(request_.directory);
    const auto* mount = view_.mount_of(directory);
    const bool is_bind = mount != nullptr && mount->content == MountContent::bind;
    const bool is_hidden = is_within_any(request_.directory, request_.hidden) ||
                           is_within_any(request_.directory, hidden_parts);
    const bool is_seen = is_bind ? !is_hidden || mount->target == directory
                                 : mount != nullptr && mount->target == directory;
    if (is_seen || directory == "/") view_.directory = directory;
    view_.is_directory_empty = request_.files == Files::view && is_home(request_) && !is_bind;
  }

  const PlanRequest& request_;
  View view_;
  std::map<std::string, Mount> mounts_;
};

}  // namespace

const Mount* View::mount_of(std::string_view path) const {
  const Mount* found = nullptr;
  for (const auto& mount : mounts) {
    if (is_within(path, mount.target)) found = &mount;
  }
  return found;
}

View plan_view(const PlanRequest& request) { return Planner{request}.plan(); }

}  // namespace stile::confine
