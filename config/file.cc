// OpenFile: a file descriptor that closes itself, its status, and its content.
#include "config/file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "acl/error_text.h"

namespace stile::config {

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<struct stat> OpenFile::status() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return Error{error_text(errno)};
  return status;
}

Result<std::string> OpenFile::read_all(std::size_t max_bytes) const {
  const auto found = status();
  if (!found) return found.error();
  // One byte more than expected, so that a file of the expected size ends with the first read of 0.
  const auto expected = static_cast<std::size_t>(std::max<off_t>(found->st_size, 0));
  std::string content(std::min(expected, max_bytes) + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    const ssize_t count = ::read(fd_, content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{error_text(errno)};
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > max_bytes) return Error{"larger than " + std::to_string(max_bytes) + " bytes"};
    if (filled == content.size()) content.resize(std::min(content.size() * 2, max_bytes + 1));
  }
  content.resize(filled);
  // Explicit type: a string would also convert to an Error.
  return Result<std::string>{boost::system::in_place_value, std::move(content)};
}

}  // namespace stile::config
