// StateFile: writes a new file, fsyncs, renames, and fsyncs the directory.
#include "control/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "base/system_error.h"

namespace stile::control {
namespace {

constexpr const char* file_name = "state.json";
constexpr const char* fleet_name = "fleet.json";
constexpr const char* lock_name = "lock";

// Root without capabilities is not allowed into a directory of another user.
Error cannot_open(const std::string& directory, int error) {
  std::string text = "state_dir " + directory + ": " + error_text(error);
  struct stat status {};
  if (error == EACCES && ::stat(directory.c_str(), &status) == 0 && status.st_uid != ::geteuid()) {
    text += "; it belongs to user " + std::to_string(status.st_uid) +
            ": set `user` in [server] to that user, or use another state_dir";
  }
  return Error{std::move(text)};
}

}  // namespace

Result<StateFile> StateFile::open_directory(const std::string& directory) {
  std::error_code ignored;  // only the open below decides
  std::filesystem::create_directories(std::filesystem::path{directory}.parent_path(), ignored);
  ::mkdir(directory.c_str(), 0700);
  StateFile file;
  file.directory_ = directory;
  file.fd_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.fd_) return cannot_open(directory, errno);
  return file;
}

Result<StateFile> StateFile::inherit(const std::string& directory, UniqueFd lock) {
  auto opened = open_directory(directory);
  if (!opened) return opened.error();
  struct stat mine {
  }, named{};
  if (::fstat(lock.get(), &mine) != 0 ||
      ::fstatat(opened->fd_.get(), lock_name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      mine.st_dev != named.st_dev || mine.st_ino != named.st_ino) {
    return Error{"state_dir " + directory + ": is not the one of the running daemon"};
  }
  opened->lock_ = std::move(lock);
  return opened;
}

Result<StateFile> StateFile::open(const std::string& directory) {
  auto opened = open_directory(directory);
  if (!opened) return opened.error();
  StateFile file = std::move(*opened);
  file.lock_.reset(::openat(file.fd_.get(), lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.lock_) return system_error("state_dir " + directory + ": " + lock_name);
  if (::flock(file.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{"state_dir " + directory + ": another stiled uses it"};
  }
  return file;
}

Error StateFile::in_directory(const Error& error) const {
  return Error{"state_dir " + directory_ + ": " + error.message};
}

std::string StateFile::path() const { return directory_ + '/' + file_name; }

Result<std::optional<std::string>> StateFile::read() const {
  auto text = read_file(fd_.get(), file_name, max_bytes);
  if (!text) return in_directory(text.error());
  return text;
}

Result<std::optional<std::string>> StateFile::read_fleet() const {
  auto text = read_file(fd_.get(), fleet_name, max_bytes);
  if (!text) return in_directory(text.error());
  return text;
}

Result<void> StateFile::replace_fleet(std::string_view text) const {
  const auto replaced = replace_file(fd_.get(), fleet_name, text);
  if (!replaced) return in_directory(replaced.error());
  return {};
}

Result<void> StateFile::replace(std::string_view text) const {
  const auto replaced = replace_file(fd_.get(), file_name, text);
  if (!replaced) return in_directory(replaced.error());
  return {};
}

}  // namespace stile::control
