// files: whole files, read with a limit and replaced in one step.
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/directory.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile {

Result<std::string> read_all(int fd, std::size_t max_bytes) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error{error_text(errno)};
  // One byte more than expected, so that a file of the expected size ends with the first read of 0.
  const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  std::string content(std::min(expected, max_bytes) + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    const ssize_t count = ::read(fd, content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{error_text(errno)};
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > max_bytes) return Error{"larger than " + std::to_string(max_bytes) + " bytes"};
    if (filled == content.size()) content.resize(std::min(content.size() * 2, max_bytes + 1));
  }
  content.resize(filled);
  return text_result(std::move(content));
}

Result<std::optional<std::string>> read_file(int directory, const std::string& name,
                                             std::size_t max_bytes) {
  const UniqueFd fd{
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!fd) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return system_error("cannot read " + name);
  }
  auto text = read_all(fd.get(), max_bytes);
  if (!text) return Error{"cannot read " + name + ": " + text.error().message};
  return std::optional{std::move(*text)};
}

std::string read_or_empty(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool is_missing(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> replace_file(int directory, const std::string& name, std::string_view text,
                          mode_t mode, std::optional<FileOwner> owner) {
  const std::string temporary = "." + name + ".new";
  ::unlinkat(directory, temporary.c_str(), 0);  // left by a process that was killed
  const UniqueFd fd{::openat(directory, temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
  if (!fd) return system_error("cannot write " + name);
  const bool is_owned = !owner || (::fchown(fd.get(), owner->user, owner->group) == 0 &&
                                   ::fchmod(fd.get(), mode) == 0);
  if (!is_owned || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0 ||
      ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    auto error = system_error("cannot write " + name);
    ::unlinkat(directory, temporary.c_str(), 0);
    return error;
  }
  if (::fsync(directory) != 0) return system_error("cannot write the directory of " + name);
  return {};
}

Result<bool> remove_file(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  return system_error("cannot remove " + name);
}

Result<std::vector<std::string>> names_in(int directory) {
  auto stream = DirectoryStream::of(directory);
  if (!stream) return Error{error_text(errno)};
  std::vector<std::string> names;
  while (const dirent* entry = stream.next()) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  if (errno != 0) return Error{error_text(errno)};
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stile
