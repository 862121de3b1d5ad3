// search: finds sockets and secrets in a tree that is shown.
#include "confine/search.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::confine {
namespace {

constexpr std::size_t most_levels = 200;  // each holds a descriptor
constexpr std::size_t most_entries_of_a_tree = 3'000'000;

struct Level {
  DirectoryStream directory;
  std::string path;
  dev_t device = 0;
};

class TreeSearch {
 public:
  TreeSearch(const SearchRequest& request,
             const std::function<Result<void>(const FoundPlace&)>& found)
      : request_{request}, found_{found} {}

  Result<void> run() {
    if (auto done = descend(request_.root, ".", request_.path); !done) return done;
    while (!levels_.empty()) {
      const dirent* entry = levels_.back().directory.next();
      if (entry == nullptr) {
        levels_.pop_back();
      } else if (auto done = look_at(*entry); !done) {
        return done;
      }
    }
    return {};
  }

 private:
  Result<void> descend(int parent, const char* name, std::string path) {
    UniqueFd fd{::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!fd) {
      // Removed, or not accessible to us, and so not to the command, which has fewer permissions.
      const bool is_harmless = errno == ENOENT || errno == EACCES || errno == EPERM ||
                               errno == ENOTDIR || errno == ELOOP;
      return is_harmless ? Result<void>{} : system_error("cannot search " + path);
    }
    struct stat status {};
    DirectoryStream directory{std::move(fd)};
    if (!directory || ::fstat(directory.fd(), &status) != 0) {
      return system_error("cannot search " + path);
    }
    if (levels_.size() == most_levels) {
      return Error{"cannot search " + path +
                   " for sockets: too many directories in each other; start in another directory"};
    }
    levels_.push_back({std::move(directory), std::move(path), status.st_dev});
    return {};
  }

  Result<void> look_at(const dirent& entry) {
    const std::string_view name{entry.d_name};
    if (++count_ > most_entries_of_a_tree) {
      return Error{"cannot search " + request_.path +
                   " for sockets: too many files; start in a directory below"};
    }
    const Level& level = levels_.back();
    const int directory = level.directory.fd();
    auto type = entry.d_type;
    struct stat status {};
    if (type == DT_UNKNOWN &&
        ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
    }
    const bool is_directory = type == DT_DIR;
    const bool is_secret_name =
        request_.search != Search::sockets && type != DT_LNK &&
        is_secret(std::string_view{level.path}.substr(level.path.rfind('/') + 1), name,
                  is_directory);
    const bool is_file = request_.file && entry.d_ino == request_.file->second &&
                         level.device == request_.file->first && !is_directory;
    if (!is_directory && !is_secret_name && !is_file && type != DT_SOCK) return {};
    const auto path = (level.path == "/" ? "" : level.path) + '/' + std::string{name};
    if (request_.is_other && request_.is_other(path)) return {};
    if (is_directory && !is_secret_name) {
      return request_.search == Search::top ? Result<void>{}
                                            : descend(directory, entry.d_name, path);
    }
    const UniqueFd place{::openat(directory, entry.d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!place) return errno == ENOENT ? Result<void>{} : system_error("cannot hide " + path);
    return found_({place.get(), path, is_directory, is_secret_name});
  }

  const SearchRequest& request_;
  const std::function<Result<void>(const FoundPlace&)>& found_;
  std::vector<Level> levels_;
  std::size_t count_ = 0;
};

}  // namespace

Result<void> search_tree(const SearchRequest& request,
                         const std::function<Result<void>(const FoundPlace&)>& found) {
  return TreeSearch{request, found}.run();
}

}  // namespace stile::confine
