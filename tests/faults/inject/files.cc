// Calls on files: a disk that is full, broken or slow. Only regular files count as such, and the
// daemon's own words on standard error are left alone.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "tests/faults/inject/board.h"

namespace {

using stile::faults::Call, stile::faults::fails, stile::faults::real;

bool is_on_disk(int fd) {
  struct stat status {};
  return fd > STDERR_FILENO && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

// Whether the call is over, with `result`; otherwise `size` is what is left to ask for.
bool is_cut(Call call, int fd, std::size_t& size) {
  const auto* board = stile::faults::board();
  if (board == nullptr || board->rules[static_cast<std::size_t>(call)].per_million == 0)
    return false;
  if (!is_on_disk(fd)) return false;
  const auto outcome = stile::faults::outcome_of(call);
  if (!outcome) return false;
  if (*outcome == stile::faults::short_count && size > 1) size /= 2;
  if (*outcome > 0) errno = *outcome;
  return *outcome > 0;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static auto* const next = real<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(Call::open) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const next = real<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(Call::open) ? -1 : next(folder, path, flags, mode);
}

ssize_t read(int fd, void* buffer, std::size_t size) {
  static auto* const next = real<ssize_t(int, void*, std::size_t)>("read");
  return is_cut(Call::read, fd, size) ? -1 : next(fd, buffer, size);
}

ssize_t write(int fd, const void* data, std::size_t size) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t)>("write");
  return is_cut(Call::write, fd, size) ? -1 : next(fd, data, size);
}

int fsync(int fd) {
  static auto* const next = real<int(int)>("fsync");
  return fails(Call::fsync) ? -1 : next(fd);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return fails(Call::rename) ? -1 : next(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const next = real<int(int, const char*, int, const char*)>("renameat");
  return fails(Call::rename) ? -1 : next(from_folder, from, to_folder, to);
}
}
