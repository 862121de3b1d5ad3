// Rotation by renames.
#include "audit/rotate.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/system_error.h"

namespace stile::audit {
namespace {

Error failure(const std::string& from, const std::string& to) {
  return Error{"cannot rename " + from + " to " + to + ": " + error_text(errno)};
}

}  // namespace

std::string rotated_name(const std::string& path, std::uint32_t number) {
  return number == 0 ? path : path + "." + std::to_string(number);
}

Result<File> rotate(const std::string& path, std::uint32_t keep) {
  // Creates the new file first, under another name: if that fails (no space, no inode), nothing has
  // moved.
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // left by a crash; empty, since lines are written only to `path`
  auto file = File::create(fresh);
  if (!file) return file.error();

  std::uint32_t last = 1;  // rename only names before the first unused one
  while (last < keep && ::access(rotated_name(path, last).c_str(), F_OK) == 0) ++last;
  for (std::uint32_t number = last; number > 0; --number) {
    const std::string from = rotated_name(path, number - 1);
    const std::string to = rotated_name(path, number);
    if (std::rename(from.c_str(), to.c_str()) != 0) {
      const Error error = failure(from, to);
      ::unlink(fresh.c_str());
      return error;
    }
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    const Error error = failure(fresh, path);
    std::rename(rotated_name(path, 1).c_str(), path.c_str());  // undo; the writer keeps this file
    ::unlink(fresh.c_str());
    return error;
  }
  return file;
}

}  // namespace stile::audit
