// view: builds the file system that a confined command sees.
#include "confine/view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/contains.h"
#include "base/files.h"
#include "base/system_error.h"
#include "confine/covers.h"
#include "confine/devices.h"
#include "confine/mounts.h"
#include "confine/paths.h"
#include "confine/place.h"
#include "confine/search.h"

namespace stile::confine {
namespace {

constexpr unsigned harmless = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

bool is_out_of_reach(int code) { return code == ENOENT || code == ENOTDIR || code == EACCES; }

// The path is missing in a directory of the host, and cannot be created there.
bool is_read_only_place(int code) { return code == EROFS || code == EACCES || code == ENOTDIR; }

struct Source {
  const Mount* mount = nullptr;
  UniqueFd tree;
  bool is_directory = true, is_socket = false;
};

class Builder {
 public:
  explicit Builder(const ViewRequest& request) : request_{request}, view_{request.view} {}

  Result<ViewReport> build() {
    const auto mask = ::umask(0);
    auto done = build_all();
    ::umask(mask);
    if (!done) return done.error();
    return std::move(report_);
  }

 private:
  Result<void> build_all() {
    for (const auto& mount : view_.mounts) {
      if (auto opened = open_source(mount); !opened) return opened;
    }
    for (const auto step : {&Builder::lay_root, &Builder::fill, &Builder::cover_named,
                            &Builder::put_own_files, &Builder::pin, &Builder::move_in}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    return {};
  }

  // While the host's files are still at their usual paths.
  Result<void> open_source(const Mount& mount) {
    if (mount.content != MountContent::bind) {
      sources_.push_back({&mount, {}, mount.content != MountContent::text});
      return {};
    }
    const auto place = open_place(mount.host_path());
    if (!place) {
      if (!mount.is_named && (is_out_of_reach(errno) || errno == ELOOP)) return {};
      return system_error("cannot show " + mount.host_path());
    }
    struct stat status {};
    Source source{&mount, copy_tree(place.get()), true};
    if (!source.tree || ::fstat(place.get(), &status) != 0) {
      return system_error("cannot show " + mount.target);
    }
    source.is_directory = S_ISDIR(status.st_mode);
    source.is_socket = S_ISSOCK(status.st_mode);
    unsigned attributes = MOUNT_ATTR_NOSUID;
    if (!is_within(mount.host_path(), "/dev")) attributes |= MOUNT_ATTR_NODEV;
    if (!mount.is_writable) attributes |= MOUNT_ATTR_RDONLY;
    if (!restrict_tree(source.tree.get(), attributes)) {
      return system_error("cannot protect " + mount.target);
    }
    sources_.push_back(std::move(source));
    return {};
  }

  [[nodiscard]] UniqueFd own_directory(mode_t mode) const {
    const auto size = std::to_string(request_.own_bytes);
    return new_file_system("tmpfs", harmless,
                           {{"mode", mode_text(mode)},
                            {"size", request_.own_bytes > 0 ? size : "50%"},
                            {"uid", std::to_string(request_.owner.uid)},
                            {"gid", std::to_string(request_.owner.gid)}});
  }

  // The new root is mounted on top of the old one, which stays accessible to us until the end.
  // Between them is the stage that covers are copied from.
  Result<void> lay_root() {
    const UniqueFd top{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!top) return system_error("cannot open /");
    auto covers = Covers::make(top.get());
    if (!covers) return covers.error();
    covers_.emplace(std::move(*covers));
    if (view_.files == Files::host && !sources_.empty() && sources_[0].mount->target == "/") {
      root_ = std::move(sources_[0].tree);
      sources_.erase(sources_.begin());
    } else {
      root_ = new_file_system("tmpfs", harmless, {{"mode", "755"}});
    }
    if (!root_ || !attach(root_.get(), top.get())) return system_error("cannot mount a root");
    return {};
  }

  Result<void> fill() {
    for (const auto& source : sources_) {
      if (auto done = put(source); !done) return done;
    }
    for (const auto& link : view_.links) make_link(link);
    return {};
  }

  // If the view already has a link there, or the directory belongs to the system, that one is kept.
  void make_link(const Symlink& link) {
    const auto at = link.path.rfind('/');
    const auto parent = make_place(root_.get(), link.path.substr(0, at), true);
    if (!parent) return;
    [[maybe_unused]] const int ignored =
        ::symlinkat(link.text.c_str(), parent.get(), link.path.c_str() + at + 1);
  }

  Result<void> put(const Source& source) {
    const auto& mount = *source.mount;
    // Nothing is created in the host's own directories.
    const bool is_hosts = view_.files == Files::host && mount.content != MountContent::bind &&
                          mount.content != MountContent::text;
    const auto place = is_hosts ? open_place(mount.target, root_.get())
                                : make_place(root_.get(), mount.target, source.is_directory);
    if (!place) {
      const bool is_missing = errno == ENOENT || (!is_hosts && is_read_only_place(errno));
      if (is_missing && mount.content == MountContent::empty) return {};
      return system_error("cannot mount " + mount.target);
    }
    switch (mount.content) {
      case MountContent::bind:
        if (!attach(source.tree.get(), place.get()))
          return system_error("cannot show " + mount.target);
        return source.is_socket ? cover_socket(mount) : search(source);
      case MountContent::empty: {
        const auto directory = own_directory(mount.mode);
        if (!directory || !attach(directory.get(), place.get())) {
          return system_error("cannot mount " + mount.target);
        }
        return {};
      }
      case MountContent::proc:
        return put_proc(place.get());
      case MountContent::sys: {
        // If the kernel refuses it (parts of the host's are covered), an empty one is enough.
        const auto sys = new_file_system("sysfs", harmless | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
        if (sys && !attach(sys.get(), place.get())) return system_error("cannot mount /sys");
        if (!sys && view_.files == Files::host) return cover(place.get(), "/sys", true);
        return {};
      }
      case MountContent::devices:
        return make_devices(place.get());
      case MountContent::text:
        return covers_->put_text(place.get(), mount.target, mount.text);
    }
    return {};
  }

  Result<void> put_proc(int place) {
    auto proc = new_file_system("proc", harmless | MOUNT_ATTR_NOEXEC);
    report_.has_own_proc = static_cast<bool>(proc);
    if (!proc) {
      if (errno != EPERM) return system_error("cannot mount /proc");
      const auto hosts = open_place("/proc");
      if (hosts) proc = copy_tree(hosts.get());
    }
    if (!proc || !attach(proc.get(), place)) return system_error("cannot mount /proc");
    return {};
  }

  [[nodiscard]] bool is_target(const std::string& path) const {
    return std::any_of(view_.mounts.begin(), view_.mounts.end(),
                       [&](const Mount& mount) { return mount.target == path; });
  }

  [[nodiscard]] bool holds_target(const std::string& path) const {
    return std::any_of(view_.mounts.begin(), view_.mounts.end(),
                       [&](const Mount& mount) { return is_within(mount.target, path); });
  }

  void note_secret(const FoundPlace& found) {
    report_.secrets.push_back(found.path);
    const auto at = found.path.rfind('/');
    const bool is_known_by_itself = is_secret({}, found.path.substr(at + 1), found.is_directory);
    if (!is_known_by_itself) secret_directories_.push_back(found.path.substr(0, at));
  }

  // Named itself, but not as one that is to be exposed.
  Result<void> cover_socket(const Mount& mount) {
    if (mount.search == Search::none) return {};
    const auto place = open_place(mount.target, root_.get());
    if (!place) return system_error("cannot hide " + mount.target);
    return cover(place.get(), mount.target, false);
  }

  Result<void> search(const Source& source) {
    const auto& mount = *source.mount;
    if (mount.search == Search::none || !source.is_directory) return {};
    const SearchRequest request{source.tree.get(), mount.target, mount.search, request_.log,
                                [&](const std::string& path) { return is_target(path); }};
    return search_tree(request, [&](const FoundPlace& found) -> Result<void> {
      if (found.is_secret) note_secret(found);
      return cover(found.place, found.path, found.is_directory);
    });
  }

  // With an empty read-only file or directory; with a separate directory if something will be
  // mounted in it.
  Result<void> cover(int place, const std::string& path, bool is_directory) {
    if (!is_directory || !holds_target(path)) return covers_->cover(place, path, is_directory);
    const auto empty = own_directory(0755);
    if (!empty || !attach(empty.get(), place)) return system_error("cannot hide " + path);
    return {};
  }

  Result<void> cover_named() {
    for (const auto& path : view_.covers) {
      const auto place = open_place(path, root_.get());
      struct stat status {};
      if (!place) {
        // If we cannot look it up now, neither can the command, which has fewer permissions.
        if (is_out_of_reach(errno) || errno == ELOOP) continue;
        return system_error("cannot hide " + path);
      }
      if (::fstat(place.get(), &status) != 0) return system_error("cannot hide " + path);
      const bool has_more = holds_target(path);
      if (auto done = cover(place.get(), path, S_ISDIR(status.st_mode)); !done) return done;
      if (has_more) {
        if (auto done = put_back_below(path); !done) return done;
      }
    }
    return {};
  }

  // Mounts named paths again that are below a directory that was just covered.
  Result<void> put_back_below(const std::string& path) {
    for (const auto& source : sources_) {
      if (!is_within(source.mount->target, path) || source.mount->content != MountContent::bind)
        continue;
      const auto place = make_place(root_.get(), source.mount->target, source.is_directory);
      const auto again = copy_tree(source.tree.get());
      if (!place || !again || !attach(again.get(), place.get())) {
        return system_error("cannot show " + source.mount->target);
      }
    }
    return {};
  }

  Result<void> put_own_files() {
    const auto& own = request_.own_files;
    if (own.files.empty()) return {};
    if (const auto* mount = view_.mount_of(own.directory);
        mount == nullptr || mount->content != MountContent::empty) {
      return Error{"the CA cannot be shown at " + own.directory +
                   ": this directory of the host is shown instead of an empty one"};
    }
    const auto place = make_place(root_.get(), own.directory, true);
    const auto made = new_file_system("tmpfs", harmless | MOUNT_ATTR_NOEXEC, {{"mode", "755"}});
    if (!place || !made) return system_error("cannot make " + own.directory);
    for (const auto& file : own.files) {
      const UniqueFd fd{
          ::openat(made.get(), file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444)};
      if (!fd || !write_all(fd.get(), file.text)) return system_error("cannot write " + file.name);
    }
    if (!restrict_tree(made.get(), MOUNT_ATTR_RDONLY) || !attach(made.get(), place.get())) {
      return system_error("cannot mount " + own.directory);
    }
    for (const auto& file : own.files) {
      const auto over = file.over.empty() ? UniqueFd{} : open_place(file.over, root_.get());
      if (!over) continue;
      const auto source = open_place(own.directory + '/' + file.name, root_.get());
      const auto copy = source ? copy_tree(source.get()) : UniqueFd{};
      if (!copy || !attach(copy.get(), over.get())) return system_error("cannot show " + file.over);
    }
    return {};
  }

  // A mount point cannot be renamed. Under another name, the next command would be shown what is a
  // secret only in a directory of this name.
  Result<void> pin() {
    auto pins = view_.pins;
    for (const auto& path : secret_directories_) {
      if (!is_target(path) && !contains(pins, path)) {
        pins.push_back(path);
      }
    }
    for (const auto& path : pins) {
      const auto place = open_place(path, root_.get());
      if (!place) continue;  // not in this view
      const auto same = copy_tree(place.get());
      if (!same || !attach(same.get(), place.get())) return system_error("cannot hold " + path);
    }
    return {};
  }

  Result<void> move_in() {
    if (view_.files == Files::view && !restrict_mount(root_.get(), MOUNT_ATTR_RDONLY)) {
      return system_error("cannot protect the root");
    }
    // The old root ends up on top of the new one, and the stage on top of that. Both are unmounted.
    if (::fchdir(root_.get()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
      return system_error("cannot change the root");
    }
    // If a mount were left below or above the new root, ".." would lead there.
    struct stat here {
    }, above{};
    if (::stat("/", &here) != 0 || ::stat("/..", &above) != 0 || here.st_dev != above.st_dev ||
        here.st_ino != above.st_ino) {
      return Error{"the old root is still there"};
    }
    return {};
  }

  const ViewRequest& request_;
  const View& view_;
  std::vector<Source> sources_;
  std::optional<Covers> covers_;
  UniqueFd root_;
  std::vector<std::string> secret_directories_;
  ViewReport report_;
};

}  // namespace

Result<ViewReport> make_view(const ViewRequest& request) { return Builder{request}.build(); }

}  // namespace stile::confine
