// directory: lists a directory, and opens what is below one without following links.
#include "base/directory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace stile {

UniqueFd open_resolved(int directory, const std::string& path, int flags, std::uint64_t resolve,
                       mode_t mode) noexcept {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = resolve;
  return UniqueFd{
      static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how))};
}

DirectoryStream::DirectoryStream(UniqueFd directory) noexcept
    : stream_{directory ? ::fdopendir(directory.get()) : nullptr} {
  if (stream_) static_cast<void>(directory.release());  // closedir closes it
}

DirectoryStream DirectoryStream::of(int directory) noexcept {
  return DirectoryStream{UniqueFd{::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)}};
}

const dirent* DirectoryStream::next() noexcept {
  const dirent* entry = nullptr;
  do {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
    entry = ::readdir(stream_.get());
  } while (entry != nullptr &&
           (std::string_view{entry->d_name} == "." || std::string_view{entry->d_name} == ".."));
  return entry;
}

}  // namespace stile
