// files: small files of our own, written completely or not at all.
#include "netns/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "acl/error_text.h"

namespace stile::netns {

Error system_error(const std::string& what) { return system_error(what, errno); }

Error system_error(const std::string& what, int code) {
  return Error{what + ": " + error_text(code)};
}

Result<UniqueFd> open_directory(const std::string& path, mode_t mode, gid_t group) {
  const bool is_new = ::mkdir(path.c_str(), mode) == 0;
  if (!is_new && errno != EEXIST) return system_error("cannot make " + path);
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd) return system_error("cannot open " + path);
  if (is_new && (::fchown(fd.get(), 0, group) != 0 || ::fchmod(fd.get(), mode) != 0)) {
    return system_error("cannot set the owner of " + path);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return system_error(path);
  if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{path + ": somebody but root can write it; expected is root's own, mode 0755"};
  }
  return fd;
}

Result<void> write_file(int directory, const std::string& name, std::string_view text, mode_t mode,
                        gid_t group) {
  const std::string temporary = "." + name + ".new";
  // A leftover of a killed process. Writers hold the lock, so it is not in use.
  ::unlinkat(directory, temporary.c_str(), 0);
  const UniqueFd fd{::openat(directory, temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
  if (!fd) return system_error("cannot write " + name);
  const auto written = ::write(fd.get(), text.data(), text.size());
  const bool is_written = written >= 0 && static_cast<std::size_t>(written) == text.size();
  if (!is_written || ::fchown(fd.get(), 0, group) != 0 || ::fchmod(fd.get(), mode) != 0 ||
      ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    const auto error = system_error("cannot write " + name);
    ::unlinkat(directory, temporary.c_str(), 0);
    return error;
  }
  return {};
}

Result<std::optional<std::string>> read_file(int directory, const std::string& name,
                                             std::size_t max_bytes) {
  const UniqueFd fd{
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!fd) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return system_error("cannot read " + name);
  }
  std::string text(max_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0) return system_error("cannot read " + name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > max_bytes) return Error{name + " is too large"};
  text.resize(size);
  return std::optional{std::move(text)};
}

Result<bool> remove_file(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  return system_error("cannot remove " + name);
}

Result<std::vector<std::string>> names_in(int directory) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return system_error("cannot read a directory");
  const std::unique_ptr<DIR, int (*)(DIR*)> stream{::fdopendir(copy), ::closedir};
  if (!stream) {
    const auto error = system_error("cannot read a directory");
    ::close(copy);
    return error;
  }
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
  while (const dirent* entry = ::readdir(stream.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stile::netns
