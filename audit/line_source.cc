// LineSource: one buffer that holds several of the longest lines.
#include "audit/line_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "audit/format.h"
#include "base/system_error.h"

namespace stile::audit {
namespace {
constexpr std::size_t buffer_bytes = 4 * max_line_bytes;
}

Result<LineSource> LineSource::open(const std::string& path) {
  UniqueFd fd{path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return system_error(path);
  return LineSource{std::move(fd), path};
}

LineSource::LineSource(UniqueFd fd, std::string name)
    : fd_{std::move(fd)}, name_{std::move(name)}, buffer_(buffer_bytes, '\0') {}

// Reads more after the buffered bytes; false at the end.
bool LineSource::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (true) {
    const ssize_t count = ::read(fd_.get(), buffer_.data() + end_, buffer_.size() - end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = name_ + ": " + error_text(errno);
    if (count <= 0) return false;
    end_ += static_cast<std::size_t>(count);
    return true;
  }
}

bool LineSource::next() {
  if (!error_.empty()) return false;
  if (has_newline_) ++number_;
  std::size_t seen = 0;
  while (true) {
    const std::string_view there{buffer_.data() + begin_, end_ - begin_};
    const std::size_t newline = there.find('\n', seen);
    has_newline_ = newline != there.npos;
    if (has_newline_ || there.size() > max_line_bytes) {
      line_ = there.substr(0, std::min(newline, max_line_bytes + 1));
      has_newline_ = line_.size() == newline;
      break;
    }
    seen = there.size();
    if (fill()) continue;
    line_ = {buffer_.data() + begin_, end_ - begin_};
    if (line_.empty() || !error_.empty()) return false;
    break;
  }
  begin_ += line_.size() + (has_newline_ ? 1 : 0);
  return true;
}

}  // namespace stile::audit
