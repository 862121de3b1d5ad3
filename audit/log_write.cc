// Log: numbers, links and writes lines under one lock; queues or counts what cannot be written.
#include <chrono>

#include "audit/log.h"
#include "base/system_error.h"
#include "base/unix_time.h"

namespace stile::audit {
namespace {

// How long a pipe without a reader may block the workers, once; then the log counts as failed.
constexpr std::chrono::milliseconds patience{1000};
// The limit of lines queued in memory: about 150,000 ordinary `close` lines.
constexpr std::size_t max_waiting_bytes = 64 * 1024 * 1024;
// How many queued bytes go into one write.
constexpr std::size_t chunk_bytes = 256 * 1024;

}  // namespace

std::size_t Log::write(Batch& batch) {
  const std::lock_guard lock{mutex_};
  const std::size_t size = batch.size();
  std::size_t written = 0;
  try {
    if (relay_) {
      written = relay(batch);
    } else if (flush_waiting()) {
      written = put(batch);
    }
  } catch (const std::exception&) {
    // No memory. This happens only before the bytes are in the file: nothing was written.
  }
  for (std::size_t i = written; i < size && !relay_; ++i) keep_or_lose(batch.piece(i));
  batch.clear();
  return options_.deny_on_failure ? written : size;
}

// The other process queues or counts what it cannot write.
std::size_t Log::relay(const Batch& batch) {
  const auto written = relay_->write(batch);
  healthy_ = written.has_value();
  if (written) return *written;
  ++failures_;
  problem_ = "the process that took over does not write lines any more";
  return 0;
}

void Log::retry() {
  const std::lock_guard lock{mutex_};
  if (relay_) return;
  try {
    flush_waiting();
  } catch (const std::exception&) {
    // No memory; the lines are still queued.
  }
}

bool Log::has_waiting() const noexcept {
  if (!waiting_.empty()) return true;
  return options_.format == Format::json ? torn_.present() || lost_ > 0 : torn_.needs_newline();
}

// While writing fails, each attempt is one line: cheap, and enough to detect that it works again.
bool Log::flush_waiting() {
  while (has_waiting()) {
    begin_out();
    const bool has_gap = append_gap();
    const std::size_t limit = healthy_ ? chunk_bytes : 1;
    for (std::size_t i = 0; i < waiting_.size() && out_.size() < limit; ++i) {
      const std::string_view text{waiting_[i].text};
      const std::size_t number_at = waiting_[i].number_at;
      append({true, text.substr(0, number_at), text.substr(number_at)});
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

// Writes the lines of the batch; returns how many leading records are in the file or need no line.
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

// Ends a torn line, and reports missing lines in an audit-gap (then true).
bool Log::append_gap() {
  if (torn_.needs_newline()) out_ += '\n';
  if (options_.format == Format::squid || (!torn_.present() && lost_ == 0)) return false;
  Record record;
  record.event = Event::audit_gap;
  record.time_us = unix_micros();
  if (lost_ > 0) {
    record.reason = acl::Reason::audit_unavailable;
    record.count = lost_;
    // Under "deny" the lost requests were refused; under "continue" they were served.
    if (options_.deny_on_failure) record.verdict = acl::Verdict::deny;
  }
  const HexHash hash = torn_.present() ? torn_.hash() : zero_hash;
  if (torn_.present()) record.torn = hash_text(hash);
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
  ++failures_;
  try {
    problem_ = "cannot write to " + (options_.path == "-" ? "standard output" : options_.path) +
               ": " + error_text(written.error) +
               (options_.deny_on_failure ? "; requests are refused (audit-unavailable)"
                                         : "; requests go on without their audit lines");
  } catch (const std::exception&) {
    problem_.clear();  // no memory for the message
  }
  return false;
}

// This many bytes of out_ are in the file: whole lines are part of the log now, the rest is torn.
void Log::commit(std::size_t bytes) {
  // A JSON line without its newline is complete: `verify` and the next start accept it.
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
  if (taps_.empty()) return;
  const std::size_t begin = out_.front() == '\n' ? 1 : 0;
  try {
    for (const auto& tap : taps_) {
      tap(std::string_view{out_}.substr(begin, last.end - begin));
    }
  } catch (const std::exception&) {
    // No memory for the taps. The lines are in the log, so their requests continue.
  }
}

void Log::keep_or_lose(const Batch::Piece& piece) {
  if (piece.after.empty()) return;
  const std::size_t length = piece.before.size() + piece.after.size();
  // squid's format has no audit-gap to retry with, so one of the lost lines is queued.
  const bool is_kept = piece.has_happened || (options_.format == Format::squid && waiting_.empty());
  if (is_kept && waiting_bytes_ + length <= max_waiting_bytes) {
    try {
      waiting_.push_back({std::string{piece.before}.append(piece.after), piece.before.size()});
      waiting_bytes_ += length;
      return;
    } catch (const std::exception&) {
      // No memory: count it as lost.
    }
  }
  ++lost_;
  ++gaps_;
}

}  // namespace stile::audit
