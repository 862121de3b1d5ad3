// Log: finds its end, changes its file, and answers queries.
#include "audit/log.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/rotate.h"
#include "audit/tail.h"
#include "base/directory.h"
#include "base/system_error.h"

namespace stile::audit {
namespace {

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool ends_in_newline(const File& file) {
  const auto size = static_cast<off_t>(file.size());
  char last = '\n';
  return size == 0 || (::pread(file.fd(), &last, 1, size - 1) == 1 && last == '\n');
}

Result<Tail> read_tail_of(const std::string& path, File::Links links) {
  const UniqueFd fd = links == File::Links::follow
                          ? UniqueFd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}
                          : open_resolved(AT_FDCWD, path, O_RDONLY, RESOLVE_NO_SYMLINKS);
  if (fd) return read_tail(fd.get(), path);
  if (errno == ENOENT) return Tail{};
  return system_error(path);
}

}  // namespace

Log::Log(Options options)
    : options_{std::move(options)}, linker_{options_.chain}, rotator_{&rotate} {}
Log::~Log() = default;

Result<std::unique_ptr<Log>> Log::open(Options options) {
  std::unique_ptr<Log> log{new Log{std::move(options)}};
  if (const auto opened = log->open_file(); !opened) return opened.error();
  if (const auto recovered = log->recover(); !recovered) return recovered.error();
  return log;
}

Result<std::unique_ptr<Log>> Log::inherit(Options options, UniqueFd file) {
  std::unique_ptr<Log> log{new Log{std::move(options)}};
  if (!file) {
    if (const auto opened = log->open_file(); !opened) return opened.error();
    return log;
  }
  const std::string& path = log->options_.path;
  if (auto fits = check_rotation(path, log->options_.max_bytes); !fits) return fits.error();
  auto inherited = File::inherit(std::move(file), path);
  if (!inherited) return inherited.error();
  log->file_ = std::move(*inherited);
  return log;
}

Result<void> Log::begin(const Head& head) {
  const std::lock_guard lock{mutex_};
  options_.resume = head;
  if (options_.path == "-" || !file_.is_regular()) {
    head_.seq = head.seq;
    if (head.hash.size() == head_.hash.size()) {
      std::copy(head.hash.begin(), head.hash.end(), head_.hash.begin());
    }
    return {};
  }
  return recover();
}

Result<void> Log::open_file() {
  const std::string& path = options_.path;
  if (auto fits = check_rotation(path, options_.max_bytes); !fits) return fits;
  auto file = path == "-" ? File::standard_output() : File::open(path, links());
  if (!file) return file.error();
  file_ = std::move(*file);
  return {};
}

Result<void> Log::recover() {
  const std::string& path = options_.path;
  // Cannot be read back: starts a new chain.
  if (path == "-" || !file_.is_regular()) return {};
  rotate_at_ = options_.max_bytes;
  if (options_.format == Format::squid) {
    if (!ends_in_newline(file_)) torn_.set_unended_line(zero_hash);
    return {};
  }
  const bool is_new = file_.size() == 0;
  auto tail = is_new ? read_tail_of(rotated_name(path, 1), links()) : read_tail(file_.fd(), path);
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

Result<void> Log::check_rotation(const std::string& path, std::uint64_t max_bytes) {
  if (max_bytes > 0 && path != "-" && is_link(path)) {
    return Error{path + ": a log that rotates by size cannot be a symbolic link"};
  }
  return {};
}

void Log::set_bounds(const Bounds& bounds) {
  const std::lock_guard lock{mutex_};
  options_.deny_on_failure = bounds.deny_on_failure;
  options_.max_bytes = bounds.max_bytes;
  options_.keep = bounds.keep;
  if (options_.path != "-" && file_.is_regular()) rotate_at_ = bounds.max_bytes;
}

void Log::rotate_if_full() {
  if (rotate_at_ == 0 || torn_.present()) return;
  const std::uint64_t size = file_.size();
  if (size == 0 || size + out_.size() <= rotate_at_) return;
  auto fresh = rotator_(options_.path, options_.keep);
  if (!fresh) {
    problem_ = fresh.error().message;
    rotate_at_ = size + out_.size() + options_.max_bytes / 8;  // do not retry at every batch
    return;
  }
  file_ = std::move(*fresh);
  rotate_at_ = options_.max_bytes;
  if (on_rotate_) on_rotate_(rotated_name(options_.path, 1), text_head());
}

Result<Log::Head> Log::reopen() {
  const std::lock_guard lock{mutex_};
  const Head left = text_head();
  if (relay_) return left;
  const std::string& path = options_.path;
  if (path == "-" || !file_.is_regular() || file_.is_named(path, links())) return left;
  auto file = File::open(path, links());
  if (!file) return file.error();
  if (file->size() > 0) {
    return Error{path + ": is another file that is not empty; the log goes on in the old one"};
  }
  file_ = std::move(*file);
  torn_.end_line();
  return left;
}

Log::Head Log::hold() {
  mutex_.lock();
  return text_head();
}

void Log::let_go() { mutex_.unlock(); }

void Log::relay_to(UniqueFd stream) {
  relay_.emplace(std::move(stream));
  file_ = File{};
  mutex_.unlock();
}

int Log::descriptor() const {
  const std::lock_guard lock{mutex_};
  return options_.path != "-" && file_.is_regular() ? file_.fd() : -1;
}

bool Log::is_in_place() const {
  const std::lock_guard lock{mutex_};
  return options_.path == "-" || !file_.is_regular() || file_.is_named(options_.path, links());
}

Log::Head Log::text_head() const { return {head_.seq, std::string{hash_text(head_.hash)}}; }

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
  taps_.clear();
  if (tap) taps_.push_back(std::move(tap));
}

void Log::add_tap(std::function<void(std::string_view)> tap) {
  const std::lock_guard lock{mutex_};
  taps_.push_back(std::move(tap));
}

void Log::set_on_rotate(std::function<void(const std::string&, const Head&)> on_rotate) {
  const std::lock_guard lock{mutex_};
  on_rotate_ = std::move(on_rotate);
}

void Log::set_rotator(Rotator rotator) {
  const std::lock_guard lock{mutex_};
  rotator_ = std::move(rotator);
}

}  // namespace stile::audit
