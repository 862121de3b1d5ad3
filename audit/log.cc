// Log: number, link and write under one lock; what cannot be written waits or is counted.
#include "audit/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "audit/rotate.h"
#include "audit/tail.h"

namespace stile::audit {
namespace {

// How long a pipe that nobody reads may hold up the workers, once; then the log counts as failed.
constexpr std::chrono::milliseconds patience{1000};
// Bounds of what waits in memory: about 150,000 ordinary `close` lines.
constexpr std::size_t max_waiting_bytes = 64 * 1024 * 1024;
// How much of it goes into one write.
constexpr std::size_t chunk_bytes = 256 * 1024;

std::int64_t now_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool ends_in_newline(const File& file) {
  const auto size = static_cast<off_t>(file.size());
  char last = '\n';
  return size == 0 || (::pread(file.fd(), &last, 1, size - 1) == 1 && last == '\n');
}

Result<Tail> read_tail_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return Tail{};
    return Error{path + ": " + std::strerror(errno)};
  }
  auto tail = read_tail(fd, path);
  ::close(fd);
  return tail;
}

}  // namespace

Log::Log(Options options) : options_{std::move(options)}, linker_{options_.chain} {}
Log::~Log() = default;

Result<std::unique_ptr<Log>> Log::open(Options options) {
  std::unique_ptr<Log> log{new Log{std::move(options)}};
  if (const auto recovered = log->recover(); !recovered) return recovered.error();
  return log;
}

Result<void> Log::recover() {
  const std::string& path = options_.path;
  const bool is_stdout = path == "-";
  if (options_.max_bytes > 0 && is_link(path)) {
    return Error{path + ": a log that rotates by size cannot be a symbolic link"};
  }
  auto file = is_stdout ? File::standard_output() : File::open(path);
  if (!file) return file.error();
  file_ = std::move(*file);
  if (is_stdout || !file_.is_regular()) return {};  // nothing can be read back: a chain of its own
  rotate_at_ = options_.max_bytes;
  if (options_.format == Format::squid) {
    if (!ends_in_newline(file_)) torn_.set_unended_line(zero_hash);
    return {};
  }
  const bool is_new = file_.size() == 0;
  auto tail = is_new ? read_tail_of(rotated_name(path, 1)) : read_tail(file_.fd(), path);
  if (!tail) return tail.error();
  head_ = tail->head;
  torn_ = std::move(tail->torn);
  if (is_new) torn_.end_line();
  if (torn_.present()) ++gaps_;
  const Head& resume = options_.resume;
  if (resume.seq > head_.seq && resume.hash.size() == head_.hash.size()) {
    head_.seq = resume.seq;
    std::copy(resume.hash.begin(), resume.hash.end(), head_.hash.begin());
  }
  flush_waiting();
  return {};
}

std::size_t Log::write(Batch& batch) {
  const std::lock_guard lock{mutex_};
  const std::size_t size = batch.size();
  std::size_t written = 0;
  if (flush_waiting()) written = put(batch);
  for (std::size_t i = written; i < size; ++i) keep_or_lose(batch.piece(i));
  batch.clear();
  return options_.deny_on_failure ? written : size;
}

void Log::retry() {
  const std::lock_guard lock{mutex_};
  flush_waiting();
}

bool Log::has_waiting() const noexcept {
  if (!waiting_.empty()) return true;
  return options_.format == Format::json ? torn_.present() || lost_ > 0 : torn_.needs_newline();
}

// While writing fails, each attempt is one line: cheap, and enough to see whether it works again.
bool Log::flush_waiting() {
  while (has_waiting()) {
    begin_out();
    const bool has_gap = append_gap();
    const std::size_t limit = healthy_ ? chunk_bytes : 1;
    for (std::size_t i = 0; i < waiting_.size() && out_.size() < limit; ++i) {
      const std::string_view text{waiting_[i].text};
      const std::size_t number_at = waiting_[i].number_at;
      append({Event::close, text.substr(0, number_at), text.substr(number_at)});
    }
    const bool is_done = write_out();
    std::size_t committed = committed_;
    if (has_gap && committed > 0) {
      --committed;
      lost_ = 0;
    }
    for (; committed > 0; --committed) {
      waiting_bytes_ -= waiting_.front().text.size();
      waiting_.pop_front();
    }
    if (!is_done) return false;
  }
  if (!healthy_) problem_.clear();
  healthy_ = true;
  return true;
}

// Writes the lines of the batch; returns how many leading records are in the file, or need no line.
std::size_t Log::put(const Batch& batch) {
  begin_out();
  for (std::size_t i = 0; i < batch.size(); ++i) append(batch.piece(i));
  if (out_.empty() || write_out()) return batch.size();
  std::size_t lines = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!batch.piece(i).after.empty() && lines++ == committed_) return i;
  }
  return batch.size();
}

void Log::begin_out() {
  out_.clear();
  marks_.clear();
  committed_ = 0;
}

void Log::append(const Batch::Piece& piece) {
  if (piece.after.empty()) return;
  ChainHead head = marks_.empty() ? head_ : marks_.back().head;
  if (options_.format == Format::json) {
    linker_.append(out_, head, piece.before, piece.after);
  } else {
    out_ += piece.after;
  }
  marks_.push_back({out_.size(), head});
}

// Ends a torn line and tells what is missing. squid's format can only do the former.
bool Log::append_gap() {
  if (torn_.needs_newline()) out_ += '\n';
  if (options_.format == Format::squid) {
    if (!out_.empty()) marks_.push_back({out_.size(), head_});
    return !out_.empty();
  }
  if (!torn_.present() && lost_ == 0) return false;
  Record record;
  record.event = Event::audit_gap;
  record.time_us = now_micros();
  if (lost_ > 0) {
    record.reason = acl::Reason::audit_unavailable;
    record.count = lost_;
    // Under "deny" nothing has happened but refusals; under "continue", who knows.
    if (options_.deny_on_failure) record.verdict = acl::Verdict::deny;
  }
  const HexHash hash = torn_.present() ? torn_.hash() : zero_hash;
  if (torn_.present()) record.torn = text(hash);
  gap_.clear();
  gap_.add(record);
  append(gap_.piece(0));
  return true;
}

bool Log::write_out() {
  rotate_if_full();
  const auto wait = healthy_ ? patience : std::chrono::milliseconds{0};
  const File::Written written = file_.write(out_, wait);
  commit(written.bytes);
  if (written.error == 0) return true;
  healthy_ = false;
  problem_ = "cannot write to " + options_.path + ": " + std::strerror(written.error);
  return false;
}

// So many bytes of out_ are in the file: whole lines are part of the log now, the rest is torn.
void Log::commit(std::size_t bytes) {
  // A JSON line without its newline is complete: `verify` and the next start read it as a line.
  const std::size_t spare = options_.format == Format::json ? 1 : 0;
  while (committed_ < marks_.size() && marks_[committed_].end <= bytes + spare) ++committed_;
  events_ += committed_;
  if (committed_ == 0) {
    torn_.add(std::string_view{out_}.substr(0, bytes));
    return;
  }
  const Mark& last = marks_[committed_ - 1];
  head_ = last.head;
  torn_.clear();
  if (bytes < last.end) {
    torn_.set_unended_line(head_.hash);
  } else {
    torn_.add(std::string_view{out_}.substr(last.end, bytes - last.end));
  }
  if (tap_) {
    const std::size_t begin = out_.front() == '\n' ? 1 : 0;
    tap_(std::string_view{out_}.substr(begin, last.end - begin));
  }
}

void Log::keep_or_lose(const Batch::Piece& piece) {
  if (piece.after.empty()) return;
  const std::size_t length = piece.before.size() + piece.after.size();
  if (piece.event == Event::close && waiting_bytes_ + length <= max_waiting_bytes) {
    waiting_.push_back({std::string{piece.before}.append(piece.after), piece.before.size()});
    waiting_bytes_ += length;
  } else {
    ++lost_;
    ++gaps_;
  }
}

void Log::rotate_if_full() {
  if (rotate_at_ == 0 || torn_.present()) return;
  const std::uint64_t size = file_.size();
  if (size == 0 || size + out_.size() <= rotate_at_) return;
  auto fresh = rotate(options_.path, options_.keep);
  if (!fresh) {
    problem_ = fresh.error().message;
    rotate_at_ = size + out_.size() + options_.max_bytes / 8;  // not again at every batch
    return;
  }
  file_ = std::move(*fresh);
  rotate_at_ = options_.max_bytes;
  if (on_rotate_) on_rotate_(rotated_name(options_.path, 1), text_head());
}

Result<Log::Head> Log::reopen() {
  const std::lock_guard lock{mutex_};
  const Head left = text_head();
  const std::string& path = options_.path;
  if (path == "-" || !file_.is_regular() || file_.is_named(path)) return left;
  auto file = File::open(path);
  if (!file) return file.error();
  if (file->size() > 0) {
    return Error{path + ": is another file that is not empty; the log goes on in the old one"};
  }
  file_ = std::move(*file);
  torn_.end_line();
  return left;
}

Log::Head Log::text_head() const { return {head_.seq, std::string{text(head_.hash)}}; }

Log::Head Log::head() const {
  const std::lock_guard lock{mutex_};
  return text_head();
}

std::string Log::problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

void Log::set_tap(std::function<void(std::string_view)> tap) {
  const std::lock_guard lock{mutex_};
  tap_ = std::move(tap);
}

void Log::set_on_rotate(std::function<void(const std::string&, const Head&)> on_rotate) {
  const std::lock_guard lock{mutex_};
  on_rotate_ = std::move(on_rotate);
}

}  // namespace stile::audit
