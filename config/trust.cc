// Trusts a file depending on who may write it.
#include "config/trust.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/system_error.h"

namespace stile::config {
namespace {

constexpr int max_links = 40;  // as in the kernel

// A directory on the path, and the entry that was used in it.
struct Step {
  std::string directory;
  struct stat directory_status;
  bool is_read_only;
  std::string entry;
  struct stat entry_status;
};

// Walks from / to the file one name at a time, as the kernel does, and records each step. Each
// directory is held open while the next name is looked up in it, so that nothing can be swapped
// between the check and the next step.
class Walk {
 public:
  explicit Walk(const std::string& path) : rest_{split(path)} {}

  Result<TrustedFile> open(FileKind kind) {
    if (auto problem = go_to_root()) return std::move(*problem);
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.back());
      rest_.pop_back();
      auto problem = name == ".." ? go_up() : enter(name);
      if (problem) return std::move(*problem);
    }
    return reopen(kind);
  }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] std::string path() const { return entry_.empty() ? directory_ : join(entry_); }

 private:
  using Problem = std::optional<Error>;

  // The names in reverse, so that the next one is at the back.
  static std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> names;
    for (std::size_t end = path.size(); end > 0;) {
      const auto slash = path.rfind('/', end - 1);
      const auto begin = slash == std::string::npos ? 0 : slash + 1;
      if (auto name = path.substr(begin, end - begin); !name.empty() && name != ".") {
        names.push_back(std::move(name));
      }
      end = begin == 0 ? 0 : begin - 1;
    }
    return names;
  }

  [[nodiscard]] std::string join(const std::string& name) const {
    return (directory_ == "/" ? "" : directory_) + '/' + name;
  }

  static Error failed(const std::string& path) {
    return Error{path + " cannot be read: " + error_text(errno)};
  }

  Problem go_to_root() {
    at_ = UniqueFd{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    directory_ = "/";
    return at_ ? Problem{} : failed("/");
  }

  Problem go_up() {
    UniqueFd parent{::openat(at_.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!parent) return failed(directory_ + "/..");
    at_ = std::move(parent);
    directory_ = std::filesystem::path{directory_}.parent_path().string();
    return {};
  }

  Problem enter(const std::string& name) {
    if (!entry_.empty()) {
      errno = ENOTDIR;
      return failed(join(entry_));
    }
    UniqueFd next{::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!next) return failed(join(name));
    Step step{directory_, {}, false, join(name), {}};
    struct statvfs mount {};
    if (::fstat(at_.get(), &step.directory_status) != 0 ||
        ::fstat(next.get(), &step.entry_status) != 0 || ::fstatvfs(at_.get(), &mount) != 0) {
      return failed(join(name));
    }
    step.is_read_only = (mount.f_flag & ST_RDONLY) != 0;
    const auto type = step.entry_status.st_mode & S_IFMT;
    steps_.push_back(std::move(step));
    if (type == S_IFLNK) return follow(next);
    if (type == S_IFDIR) {
      directory_ = join(name);
      at_ = std::move(next);
    } else {
      entry_ = name;
    }
    return {};
  }

  Problem follow(const UniqueFd& link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
    if (length < 0) return failed(steps_.back().entry);
    if (++links_ > max_links) {
      errno = ELOOP;
      return failed(steps_.back().entry);
    }
    const std::string text(target.data(), static_cast<std::size_t>(length));
    for (auto& name : split(text)) rest_.push_back(std::move(name));
    return text.starts_with('/') ? go_to_root() : Problem{};
  }

  // Opens the result of the walk for reading. Checks the file type before: opening a FIFO or a
  // device can block or have side effects.
  Result<TrustedFile> reopen(FileKind kind) {
    const bool want_directory = kind == FileKind::directory;
    const bool is_directory = entry_.empty();
    const bool is_regular = !is_directory && S_ISREG(steps_.back().entry_status.st_mode);
    if (want_directory ? !is_directory : !is_regular) {
      return Error{path() + (want_directory ? " is not a directory" : " is not a regular file")};
    }
    UniqueFd file{::openat(at_.get(), is_directory ? "." : entry_.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
                               (is_directory ? O_DIRECTORY : 0))};
    if (!file) return failed(path());
    TrustedFile found{std::move(file), {}};
    if (::fstat(found.file.get(), &found.status) != 0) return failed(path());
    if (!is_directory && !S_ISREG(found.status.st_mode)) {
      return Error{path() + " is not a regular file"};
    }
    return found;
  }

  std::vector<std::string> rest_;  // names still to be looked up, in reverse
  std::string directory_ = "/";
  UniqueFd at_;        // directory_
  std::string entry_;  // the file reached in it; empty: the directory itself
  int links_ = 0;
  std::vector<Step> steps_;
};

bool is_trusted(uid_t uid, uid_t owner) { return uid == 0 || uid == owner; }

bool is_writable_by_others(const struct stat& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

Error belongs_to(const std::string& path, uid_t uid) {
  return Error{path + " belongs to user " + std::to_string(uid) +
               ", who is neither root nor the owner of the config; chown it"};
}

Error writable(const std::string& path, const struct stat& status) {
  std::array<char, 16> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
  return Error{path + " can be written by others (mode " + mode.data() + "); chmod go-w " + path};
}

// In such a directory a user cannot rename or replace an entry of another user.
bool keeps_entries(const struct stat& directory, bool is_read_only) {
  return (directory.st_mode & S_ISVTX) != 0 || is_read_only;
}

std::optional<Error> judge_step(const Step& step, uid_t owner) {
  const auto& directory = step.directory_status;
  if (!is_trusted(directory.st_uid, owner)) return belongs_to(step.directory, directory.st_uid);
  if (!is_writable_by_others(directory)) return {};
  if (!keeps_entries(directory, step.is_read_only)) return writable(step.directory, directory);
  if (!is_trusted(step.entry_status.st_uid, owner)) {
    return belongs_to(step.entry, step.entry_status.st_uid);
  }
  return {};
}

std::optional<Error> judge_end(const std::string& path, const TrustedFile& end, uid_t owner) {
  if (!is_trusted(end.status.st_uid, owner)) return belongs_to(path, end.status.st_uid);
  if (!is_writable_by_others(end.status)) return {};
  // The directory may be one that protects its entries: each entry is checked when it is opened.
  struct statvfs mount {};
  const bool is_read_only =
      ::fstatvfs(end.file.get(), &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0;
  if (S_ISDIR(end.status.st_mode) && keeps_entries(end.status, is_read_only)) return {};
  return writable(path, end.status);
}

}  // namespace

Result<TrustedFile> open_trusted(const std::string& path, std::optional<uid_t> owner,
                                 FileKind kind) {
  if (path.empty() || path.find('\0') != std::string::npos) return Error{"not a path"};
  std::error_code ignored;
  Walk walk{std::filesystem::absolute(path, ignored).string()};
  auto opened = walk.open(kind);
  if (!opened) return opened;
  const uid_t trusted = owner.value_or(opened->status.st_uid);
  for (const auto& step : walk.steps()) {
    if (auto problem = judge_step(step, trusted)) return std::move(*problem);
  }
  if (auto problem = judge_end(walk.path(), *opened, trusted)) return std::move(*problem);
  return opened;
}

}  // namespace stile::config
