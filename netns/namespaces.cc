// namespaces: a network namespace owned by its own user namespace, and how to enter it.
#include "netns/namespaces.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/system_error.h"

namespace stile::netns {
namespace {

constexpr std::uint32_t nobody = 65534;

struct Pipe {
  UniqueFd reader, writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  return Pipe{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

// An idle process in new namespaces, which keeps them alive until this object is destroyed.
class Founder {
 public:
  static Result<Founder> start() {
    auto ready = make_pipe();
    if (!ready) return ready.error();
    auto hold = make_pipe();
    if (!hold) return hold.error();
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("cannot fork");
    if (pid == 0) {
      hold->writer.reset();
      const bool is_done = ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
      const int code = is_done ? 0 : errno;
      char end = 0;
      if (::write(ready->writer.get(), &code, sizeof code) != sizeof code) ::_exit(1);
      // Ends when the parent closes its end, or is killed.
      ::_exit(::read(hold->reader.get(), &end, 1) == 0 ? 0 : 1);
    }
    Founder founder{pid, std::move(hold->writer)};
    ready->writer.reset();
    int code = 0;
    if (::read(ready->reader.get(), &code, sizeof code) != sizeof code) {
      return Error{"the process that should make the namespaces died"};
    }
    if (code == ENOSPC || code == EPERM) {
      return system_error(
          "the kernel refuses a user namespace; see user.max_user_namespaces, "
          "user.max_net_namespaces and the host's security module",
          code);
    }
    if (code != 0) return system_error("cannot make the namespaces", code);
    return founder;
  }
  Founder(Founder&& other) noexcept
      : pid_{std::exchange(other.pid_, 0)}, hold_{std::move(other.hold_)} {}
  Founder& operator=(Founder&&) = delete;
  ~Founder() {
    if (pid_ == 0) return;
    hold_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  [[nodiscard]] std::string proc(const char* name) const {
    return "/proc/" + std::to_string(pid_) + "/" + name;
  }

 private:
  Founder(pid_t pid, UniqueFd hold) : pid_{pid}, hold_{std::move(hold)} {}
  pid_t pid_;
  UniqueFd hold_;
};

Result<void> write_map(const std::string& path, const UidRange& ids) {
  // One id of the range is mapped to the user `nobody`, which programs expect to exist.
  const auto last = ids.count - 1;
  const auto text = "0 " + std::to_string(ids.first) + " " + std::to_string(last) + "\n" +
                    std::to_string(nobody) + " " + std::to_string(ids.first + last) + " 1\n";
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  // The kernel accepts a map only as a single write.
  if (!fd || ::write(fd.get(), text.data(), text.size()) < 0) {
    return system_error("cannot map the ids " + std::to_string(ids.first) + " and following");
  }
  return {};
}

// Shared, as ip(8) does it: a namespace created here also appears in older mount namespaces.
// Otherwise it could not be deleted while one of them lives.
Result<void> prepare_directory() {
  if (::mkdir(namespace_directory, 0755) != 0 && errno != EEXIST) {
    return system_error(std::string{"cannot make "} + namespace_directory);
  }
  if (::mount("", namespace_directory, "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
  if (errno != EINVAL ||
      ::mount(namespace_directory, namespace_directory, "none", MS_BIND | MS_REC, nullptr) != 0 ||
      ::mount("", namespace_directory, "none", MS_SHARED | MS_REC, nullptr) != 0) {
    return system_error(std::string{"cannot prepare "} + namespace_directory);
  }
  return {};
}

Result<UniqueFd> open_home() {
  UniqueFd home{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!home) return system_error("cannot open our own network namespace");
  return home;
}

}  // namespace

std::string namespace_path(std::string_view id) {
  return std::string{namespace_directory} + "/" + namespace_name(id);
}

Result<void> make_namespace(std::string_view id, const UidRange& uids) {
  if (auto done = prepare_directory(); !done) return done;
  const auto path = namespace_path(id);
  const auto founder = Founder::start();
  if (!founder) return founder.error();
  for (const auto* map : {"uid_map", "gid_map"}) {
    if (auto done = write_map(founder->proc(map), uids); !done) return done;
  }
  const UniqueFd file{
      ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0)};
  if (!file) return system_error("cannot make " + path);
  if (::mount(founder->proc("ns/net").c_str(), path.c_str(), "none", MS_BIND, nullptr) != 0) {
    const auto error = system_error("cannot keep the namespace at " + path);
    ::unlink(path.c_str());
    return error;
  }
  return {};
}

Result<std::optional<UniqueFd>> open_namespace(std::string_view id) {
  const auto path = namespace_path(id);
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd) {
    if (errno == ENOENT) return std::optional<UniqueFd>{};
    return system_error("cannot open " + path);
  }
  struct statfs status {};
  if (::fstatfs(fd.get(), &status) != 0) return system_error(path);
  if (status.f_type != NSFS_MAGIC || ::ioctl(fd.get(), NS_GET_NSTYPE) != CLONE_NEWNET) {
    return std::optional<UniqueFd>{};
  }
  return std::optional{std::move(fd)};
}

Result<UniqueFd> owner_of(const UniqueFd& namespace_fd) {
  UniqueFd owner{::ioctl(namespace_fd.get(), NS_GET_USERNS)};
  if (!owner) return system_error("cannot tell the owner of the namespace");
  struct stat theirs {};
  struct stat ours {};
  if (::fstat(owner.get(), &theirs) != 0 || ::stat("/proc/self/ns/user", &ours) != 0) {
    return system_error("cannot tell the owner of the namespace");
  }
  if (theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev) {
    return Error{"the namespace has no user namespace of its own; stile-netns did not make it"};
  }
  return owner;
}

Result<bool> remove_namespace(std::string_view id) {
  const auto path = namespace_path(id);
  bool was_there = false;
  // Several mounts may be stacked if the directory was not shared at some time.
  while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) was_there = true;
  if (errno != EINVAL && errno != ENOENT) return system_error("cannot unmount " + path);
  if (::unlink(path.c_str()) == 0) return true;
  if (errno != ENOENT) return system_error("cannot remove " + path);
  return was_there;
}

Result<NamespaceVisit> NamespaceVisit::enter(const UniqueFd& namespace_fd) {
  auto home = open_home();
  if (!home) return home.error();
  if (::setns(namespace_fd.get(), CLONE_NEWNET) != 0) {
    return system_error("cannot enter the network namespace");
  }
  return NamespaceVisit{std::move(*home)};
}

Result<NamespaceVisit> NamespaceVisit::enter_new() {
  auto home = open_home();
  if (!home) return home.error();
  if (::unshare(CLONE_NEWNET) != 0) return system_error("cannot make a network namespace");
  return NamespaceVisit{std::move(*home)};
}

NamespaceVisit::~NamespaceVisit() {
  // Continuing in the wrong namespace would build the host's side of the fence in an agent's.
  if (home_ && ::setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
}

}  // namespace stile::netns
