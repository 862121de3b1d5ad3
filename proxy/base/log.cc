// Diagnostics for the operator: lines on standard error with journald's level in front.
#include "proxy/base/log.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>

namespace stile::log {
namespace {

// The prefix is for journald; on a terminal a word is written instead.
void write_line(const char* level, const char* word, std::string_view message) {
  static const bool to_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::string line = to_journal ? level : program_invocation_short_name;
  if (!to_journal) line.append(": ").append(word);
  for (const char c : message) line += (c >= 0x20 && c < 0x7f) ? c : '?';
  line += '\n';
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

void write_lines(void (*log)(std::string_view), std::string_view lines) {
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    if (end != 0) log(lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
}

}  // namespace

void error(std::string_view message) { write_line("<3>", "error: ", message); }
void warning(std::string_view message) { write_line("<4>", "warning: ", message); }
void info(std::string_view message) { write_line("<6>", "", message); }
void errors(std::string_view lines) { write_lines(error, lines); }
void warnings(std::string_view lines) { write_lines(warning, lines); }

void Throttle::warning(std::string_view message, std::string_view detail) noexcept {
  using std::chrono::duration_cast, std::chrono::seconds, std::chrono::steady_clock;
  const std::int64_t now = duration_cast<seconds>(steady_clock::now().time_since_epoch()).count();
  std::int64_t next = next_s_.load(std::memory_order_relaxed);
  if (now < next || !next_s_.compare_exchange_strong(next, now + 10)) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t left_out = left_out_.exchange(0);
  try {
    std::string text{message};
    text += detail;
    if (left_out > 0) text += " (and " + std::to_string(left_out) + " times more before)";
    log::warning(text);
  } catch (const std::exception&) {
    left_out_.fetch_add(left_out + 1, std::memory_order_relaxed);
  }
}

}  // namespace stile::log
