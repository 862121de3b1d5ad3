// changes: finds the files that were changed beneath a directory since a moment.
#include "netns/changes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/directory.h"
#include "base/unique_fd.h"
#include "worker/agent_uids.h"

namespace stile::netns {
namespace {

constexpr std::size_t most_entries = 100'000;  // that are looked at
constexpr std::size_t most_waiting = 10'000;   // directories

constexpr std::uint64_t own_files_only =
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;

class Walk {
 public:
  Walk(int top, const timespec& since, uid_t caller) : top_{top}, since_{since}, caller_{caller} {}

  worker::ChangedFiles go() {
    waiting_.emplace_back();
    while (!waiting_.empty() && !changed_.is_cut) {
      const auto path = std::move(waiting_.front());
      waiting_.pop_front();
      look_into(path);
    }
    changed_.is_cut = changed_.is_cut || is_too_deep_;
    std::sort(changed_.files.begin(), changed_.files.end(),
              [](const auto& left, const auto& right) { return left.name < right.name; });
    return std::move(changed_);
  }

 private:
  void look_into(const std::string& path) {
    UniqueFd directory =
        open_resolved(top_, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY, own_files_only);
    struct stat status {};
    is_too_deep_ = is_too_deep_ || (!directory && errno == ENAMETOOLONG);
    if (!directory || ::fstat(directory.get(), &status) != 0) return;  // it has just gone
    const bool is_shown = status.st_uid == caller_ || worker::is_agent_uid(status.st_uid) ||
                          (status.st_mode & S_IROTH) != 0;
    if (!is_shown) return;
    DirectoryStream entries{std::move(directory)};
    if (!entries) return;
    while (const dirent* entry = entries.next()) {
      changed_.is_cut = changed_.is_cut || ++seen_ > most_entries;
      if (changed_.is_cut) return;
      take(entries.fd(), path, entry->d_name);
    }
  }

  void take(int directory, const std::string& path, const char* name) {
    struct stat status {};
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    auto full = path.empty() ? std::string{name} : path + '/' + name;
    if (S_ISDIR(status.st_mode) && std::string_view{name} != ".git") {
      changed_.is_cut = waiting_.size() == most_waiting;
      if (!changed_.is_cut) waiting_.push_back(std::move(full));
    } else if (S_ISREG(status.st_mode) && is_new(status.st_ctim)) {
      name_bytes_ += full.size();
      changed_.is_cut = changed_.files.size() == worker::ChangedFiles::most_files ||
                        name_bytes_ > worker::ChangedFiles::most_name_bytes;
      if (changed_.is_cut) return;
      changed_.files.push_back(
          {std::move(full), static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec});
    }
  }

  [[nodiscard]] bool is_new(const timespec& time) const {
    return std::tie(time.tv_sec, time.tv_nsec) >= std::tie(since_.tv_sec, since_.tv_nsec);
  }

  int top_;
  timespec since_;
  uid_t caller_;
  std::deque<std::string> waiting_;  // directories, "": the top
  std::size_t seen_ = 0, name_bytes_ = 0;
  bool is_too_deep_ = false;  // there are paths that cannot be opened at once
  worker::ChangedFiles changed_;
};

}  // namespace

timespec file_clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

worker::ChangedFiles changed_since(int top, const timespec& since, uid_t caller) {
  return Walk{top, since, caller}.go();
}

}  // namespace stile::netns
