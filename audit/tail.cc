// Reads the tail of a log in windows that double until one contains a whole line.
#include "audit/tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/format.h"
#include "audit/line.h"
#include "base/system_error.h"

namespace stile::audit {
namespace {

constexpr std::size_t first_window = 2 * max_line_bytes;
constexpr std::size_t last_window = 16 * 1024 * 1024;

// Fills `bytes` from that offset.
Result<void> read_at(int fd, std::size_t begin, std::string& bytes, const std::string& name) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::pread(fd, bytes.data() + filled, bytes.size() - filled,
                                  static_cast<off_t>(begin + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{name + ": " + error_text(errno)};
    if (count == 0) return Error{name + ": becomes shorter while it is read"};
    filled += static_cast<std::size_t>(count);
  }
  return {};
}

// Finds the last whole line of the window, which may begin in the middle of a line.
bool find_last_line(std::string_view window, bool is_whole_file, Tail& tail) {
  Sha256 sha;
  Line line;
  std::size_t end = window.size();
  bool is_ended = false;
  while (true) {
    const std::size_t newline = end == 0 ? window.npos : window.rfind('\n', end - 1);
    if (newline == window.npos && !is_whole_file) return false;
    const std::size_t begin = newline == window.npos ? 0 : newline + 1;
    const std::string_view candidate = window.substr(begin, end - begin);
    if (read_line(candidate, line) == LineKind::whole) {
      tail.head = {line.number(Key::seq), sha.hash(candidate)};
      if (is_ended) {
        tail.torn.add(window.substr(end + 1));
      } else {
        tail.torn.set_unended_line(tail.head.hash);
      }
      return true;
    }
    if (newline == window.npos) return false;
    end = newline;
    is_ended = true;
  }
}

// The first line of a log is torn, possibly more than once: there is no whole line before it.
bool is_torn_only(std::string_view file) {
  Line line;
  while (!file.empty()) {
    const std::size_t length = std::min(file.find('\n'), file.size());
    if (length == 0 || read_line(file.substr(0, length), line) != LineKind::torn) return false;
    file.remove_prefix(std::min(length + 1, file.size()));
  }
  return true;
}

}  // namespace

Result<Tail> read_tail(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error{name + ": " + error_text(errno)};
  const auto size = static_cast<std::size_t>(status.st_size);
  Tail tail;
  if (size == 0) return tail;
  std::string window;
  for (std::size_t wanted = first_window;; wanted *= 2) {
    const std::size_t length = std::min(wanted, size);
    window.resize(length);
    if (const auto done = read_at(fd, size - length, window, name); !done) return done.error();
    if (find_last_line(window, length == size, tail)) return tail;
    if (length == size && is_torn_only(window)) {
      tail.torn.add(window);
      return tail;
    }
    if (length == size || wanted >= last_window) {
      return Error{name +
                   ": does not end like an audit log in JSON; move it away, or name another"};
    }
  }
}

}  // namespace stile::audit
