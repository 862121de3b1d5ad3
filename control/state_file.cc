// StateFile: writes a new file, fsyncs, renames, and fsyncs the directory.
#include "control/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "acl/error_text.h"
#include "config/file.h"

namespace stile::control {
namespace {

constexpr const char* file_name = "state.json";
constexpr const char* new_name = "state.json.new";
constexpr const char* lock_name = "lock";

Error failed(const std::string& what) { return {what + ": " + error_text(errno)}; }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<StateFile> StateFile::open(const std::string& directory) {
  std::error_code ignored;  // only the open below decides
  std::filesystem::create_directories(std::filesystem::path{directory}.parent_path(), ignored);
  ::mkdir(directory.c_str(), 0700);
  StateFile file;
  file.directory_ = directory;
  file.fd_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.fd_) return failed("state_dir " + directory);
  file.lock_.reset(::openat(file.fd_.get(), lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.lock_) return failed("state_dir " + directory + ": " + lock_name);
  if (::flock(file.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{"state_dir " + directory + ": another stiled uses it"};
  }
  return file;
}

std::string StateFile::path() const { return directory_ + '/' + file_name; }

Result<std::optional<std::string>> StateFile::read() const {
  const int fd = ::openat(fd_.get(), file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return failed(path());
  }
  auto text = config::OpenFile{fd}.read_all(max_bytes);
  if (!text) return Error{path() + ": " + text.error().message};
  return std::optional{std::move(*text)};
}

Result<void> StateFile::replace(std::string_view text) const {
  const UniqueFd fresh{
      ::openat(fd_.get(), new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!fresh || !write_all(fresh.get(), text) || ::fsync(fresh.get()) != 0) return failed(path());
  if (::renameat(fd_.get(), new_name, fd_.get(), file_name) != 0) return failed(path());
  if (::fsync(fd_.get()) != 0) return failed(directory_);
  return {};
}

}  // namespace stile::control
