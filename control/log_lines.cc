// LogLines: the lines of the current audit log in pieces, oldest first.
#include "control/log_lines.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "audit/rotate.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::control {
namespace {

// Other requests wait while a piece is read.
constexpr std::size_t bytes_in_a_piece = 256 * 1024;
constexpr std::uint32_t most_rotated = 10'000;  // the maximum of `keep`

std::string name_of(const std::string& path, std::uint32_t number) {
  return number == 0 ? path : audit::rotated_name(path, number);
}

}  // namespace

Result<LogLines> LogLines::open(Options options) {
  LogLines lines{std::move(options)};
  const auto& path = lines.options_.path;
  if (!lines.options_.agent.empty()) {
    // Text from agents is escaped in a line, quotes too: this text can only be the key itself.
    lines.agent_member_ = "\"agent\":\"" + lines.options_.agent + '"';
  }
  const std::uint32_t last = lines.options_.with_rotated ? most_rotated : 0;
  for (std::uint32_t number = 0; number <= last; ++number) {
    struct stat status {};
    if (::stat(name_of(path, number).c_str(), &status) != 0) {
      if (number > 0) break;
      if (errno != ENOENT) return Error{path + ": " + error_text(errno)};
      continue;  // logrotate moved it, and nothing was written since
    }
    if (!S_ISREG(status.st_mode)) return Error{path + " is not a file that can be read again"};
    lines.parts_.push_back(
        {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)});
  }
  return lines;
}

// A rotation renames a file, so all names are searched.
bool LogLines::open_next() {
  while (!parts_.empty()) {
    const Part part = parts_.back();
    parts_.pop_back();
    for (std::uint32_t number = 0; number <= most_rotated; ++number) {
      const auto name = name_of(options_.path, number);
      UniqueFd fd{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
      struct stat status {};
      if (!fd || ::fstat(fd.get(), &status) != 0) {
        if (number == 0) continue;
        break;  // it was deleted in the meantime
      }
      if (status.st_dev != part.device || status.st_ino != part.inode) continue;
      source_ = std::make_unique<audit::LineSource>(std::move(fd), name);
      left_ = part.size;
      return true;
    }
  }
  return false;
}

bool LogLines::append_some(std::string& out) {
  for (std::size_t read = 0; read < bytes_in_a_piece;) {
    if (!source_ && !open_next()) return false;
    if (left_ == 0 || !source_->next()) {
      source_.reset();
      continue;
    }
    const auto line = source_->line();
    read += line.size() + 1;
    left_ -= std::min<std::uint64_t>(left_, line.size() + 1);
    if (line.find(agent_member_) == std::string_view::npos) continue;
    out.append(line) += '\n';
  }
  return true;
}

}  // namespace stile::control
