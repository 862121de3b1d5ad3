// OutcomeFile: the daemon reports the result of the last `-k reconfigure` and `-k rotate` to -k.
#include "squid/outcome_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/quoted.h"
#include "base/system_error.h"
#include "config/diagnostics.h"

namespace stile::squid {
namespace {

// Each action has its own part of the file, so that one does not overwrite the other.
constexpr std::size_t part_bytes = 16384;
constexpr std::size_t max_text_bytes = part_bytes - 256;
constexpr std::string_view done_word = "done", refused_word = "refused";

off_t start_of(OutcomeFile::Action action) {
  return static_cast<off_t>(static_cast<std::size_t>(action) * part_bytes);
}

std::string name_beside(const std::string& pid_file) { return pid_file + ".outcome"; }

std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// The text goes to root's terminal, but its writer has fewer rights than root.
std::string printable_lines(std::string_view text) {
  std::string shown;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    shown += (shown.empty() ? "" : "\n") + printable(text.substr(start, end - start));
    start = end + 1;
  }
  return shown;
}

Result<UniqueFd> open_outcome(const std::string& path, int flags) {
  UniqueFd fd{::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600)};
  if (!fd) return Error{path + ": " + error_text(errno)};
  return fd;
}

}  // namespace

Result<OutcomeFile> OutcomeFile::create(const std::string& pid_file) {
  if (pid_file.empty()) return OutcomeFile{{}, UniqueFd{}};
  std::string path = name_beside(pid_file);
  ::unlink(path.c_str());  // of an earlier copy; never reused or followed
  auto fd = open_outcome(path, O_RDWR | O_CREAT | O_EXCL);
  if (!fd) return fd.error();
  return OutcomeFile{std::move(path), std::move(*fd)};
}

Result<OutcomeFile> OutcomeFile::open(const std::string& pid_file) {
  auto fd = open_outcome(name_beside(pid_file), O_RDONLY);
  if (!fd) return fd.error();
  return OutcomeFile{{}, std::move(*fd)};
}

OutcomeFile::~OutcomeFile() {
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
}

// The time comes first and last: if both are equal, a reader has the complete text.
void OutcomeFile::write(Action action, Time asked, const SignalOutcome& outcome) const {
  if (!fd_) return;
  const std::string time = std::to_string(asked.time_since_epoch().count()) + "\n";
  const std::string text = outcome.text.substr(0, max_text_bytes);
  std::string part = time;
  part += outcome.is_done ? done_word : refused_word;
  part += "\n" + std::to_string(text.size()) + "\n" + text + time;
  // If this fails, -k gives up after its timeout.
  [[maybe_unused]] const ssize_t written =
      ::pwrite(fd_.get(), part.data(), part.size(), start_of(action));
}

std::optional<SignalOutcome> OutcomeFile::read(Action action, Time not_before) const {
  std::string part(part_bytes, '\0');
  const ssize_t size = ::pread(fd_.get(), part.data(), part.size(), start_of(action));
  if (size <= 0) return std::nullopt;
  std::string_view rest{part.data(), static_cast<std::size_t>(size)};
  const auto time = take_line(rest), result = take_line(rest), length = take_line(rest);
  if (!time || !result || !length) return std::nullopt;
  std::int64_t asked = 0;
  std::size_t bytes = 0;
  std::from_chars(time->data(), time->data() + time->size(), asked);
  std::from_chars(length->data(), length->data() + length->size(), bytes);
  if (asked < not_before.time_since_epoch().count() || bytes > rest.size()) return std::nullopt;
  const std::string_view text = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  if (take_line(rest) != time) return std::nullopt;
  return SignalOutcome{*result == done_word, printable_lines(text)};
}

}  // namespace stile::squid
