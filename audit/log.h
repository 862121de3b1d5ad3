// Log: the single audit log that all workers write to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/batch.h"
#include "audit/chain.h"
#include "audit/file.h"
#include "audit/format.h"
#include "audit/line_relay.h"
#include "audit/torn.h"
#include "base/result.h"

namespace stile::audit {

// Thread-safe; running out of memory counts as a failed write. The process must ignore SIGPIPE and
// SIGXFSZ: both are handled here as errors of write(2).
class Log {
 public:
  // The last line of the log; written to the journal at stop and at rotation.
  struct Head {
    std::uint64_t seq = 0;  // 0: none yet
    std::string hash;       // lower-case hex, 64 digits
  };

  struct Options {
    std::string path = "-";     // "-": standard output
    bool follows_links = true;  // false: no part of the path may be a link; see File::Links
    Format format = Format::json;
    std::shared_ptr<const LogFormat> lines{};  // for Format::squid; null: its native one
    bool chain = true;
    bool deny_on_failure = true;
    std::uint64_t max_bytes = 0;  // > 0: rename path to path.1 before it grows beyond
    std::uint32_t keep = 10;      // how many of path.1, path.2, … to keep; at least 1
    // The head saved in the state directory. If the files end before it, lines are missing. The
    // chain still continues from here, so that `verify` finds the missing lines.
    Head resume{};
  };

  // Continues after the last line of an existing file, or of path.1 if there is no such file. A
  // torn last line gets a newline and an audit-gap that names it. Fails if the file cannot be
  // opened, is locked by another process, or is not an audit log.
  static Result<std::unique_ptr<Log>> open(Options options);
  // The log of another process, which still writes to it. Nothing is read or written before
  // begin(), and no other function may be called before. `file`: its regular file; none if the log
  // is something else, which is opened as always.
  static Result<std::unique_ptr<Log>> inherit(Options options, UniqueFd file);
  // The other process writes no more; its last line was `head`.
  [[nodiscard]] Result<void> begin(const Head& head);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // One write(2) for the whole batch, which is empty afterwards. Returns how many leading records
  // are in the log now; under on_failure = "continue" always all. Records that could not be written
  // are dropped and counted. Exceptions are events that have already happened (`close`, `policy`,
  // `start`, `stop`, refusals with a `count`): they are queued and written first when writing works
  // again.
  [[nodiscard]] std::size_t write(Batch& batch);

  // For the process that hands over. Writers wait from here until one of the two functions below,
  // which must follow soon and on the same thread. Returns the last line.
  [[nodiscard]] Head hold();
  void let_go();
  // Another process writes the log from now on; lines go to it through this stream.
  void relay_to(UniqueFd stream);
  // The regular file that is written to; -1: none.
  [[nodiscard]] int descriptor() const;

  // The options that a reload may change.
  struct Bounds {
    bool deny_on_failure = true;
    std::uint64_t max_bytes = 0;
    std::uint32_t keep = 10;
  };
  void set_bounds(const Bounds& bounds);
  // Whether a log of this name supports rotation by size; true if rotation is off.
  [[nodiscard]] static Result<void> check_rotation(const std::string& path,
                                                   std::uint64_t max_bytes);

  // Call this about once a second: it retries queued lines.
  void retry();

  // Switches to the file that now has the name (after a rename by logrotate). On error the log
  // stays with its old file. Returns the last line of the old file.
  Result<Head> reopen();

  // Whether the path still refers to the open file. True if it is not a regular file.
  [[nodiscard]] bool is_in_place() const;

  // A batch for records of this log; must not outlive the log.
  [[nodiscard]] Batch new_batch() const { return Batch{options_.format, options_.lines.get()}; }
  [[nodiscard]] Head head() const;
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }  // lines written
  // The number of dropped records and torn lines.
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }
  // False while lines are queued, or after the last write failed.
  [[nodiscard]] bool healthy() const noexcept { return healthy_; }
  // Whether a request that needs a line would be refused now.
  [[nodiscard]] bool must_refuse() const noexcept { return !healthy_ && options_.deny_on_failure; }
  // The number of failed writes.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }
  // Why the log is not healthy and what follows from that, or why a rotation failed; for messages.
  // Empty if neither applies.
  [[nodiscard]] std::string problem() const;

  // All three are called under the log's lock. They must be quick and must not call the log.
  //
  // Gets the lines just written, whole and with newlines: for `tail`.
  void set_tap(std::function<void(std::string_view lines)> tap);  // replaces all others
  void add_tap(std::function<void(std::string_view lines)> tap);
  // Gets the name of the file that a rotation by size closed, and its last line.
  void set_on_rotate(std::function<void(const std::string& file, const Head& head)> on_rotate);
  // Replaces rotate() of audit/rotate.h, for processes that may not open files themselves.
  using Rotator = std::function<Result<File>(const std::string& path, std::uint32_t keep)>;
  void set_rotator(Rotator rotator);

 private:
  explicit Log(Options options);
  Result<void> open_file();
  Result<void> recover();
  bool flush_waiting();
  std::size_t put(const Batch& batch);
  std::size_t relay(const Batch& batch);
  void begin_out();
  void append(const Batch::Piece& piece);
  bool append_gap();
  bool write_out();
  void commit(std::size_t bytes);
  void keep_or_lose(const Batch::Piece& piece);
  void rotate_if_full();
  [[nodiscard]] bool has_waiting() const noexcept;
  [[nodiscard]] Head text_head() const;
  [[nodiscard]] File::Links links() const noexcept {
    return options_.follows_links ? File::Links::follow : File::Links::refuse;
  }

  // A record that could not be written yet.
  struct Waiting {
    std::string text;
    std::size_t number_at;
  };
  // The end of a line in out_, and the chain after it.
  struct Mark {
    std::size_t end;
    ChainHead head;
  };

  Options options_;  // constant except for set_bounds()
  mutable std::mutex mutex_;
  File file_;
  Linker linker_;
  ChainHead head_;  // of the last line in the file
  Torn torn_;       // the bytes after that line in the file
  std::string out_;
  std::vector<Mark> marks_;
  std::size_t committed_ = 0;  // lines of out_ that are in the file
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t lost_ = 0;  // since the last audit-gap
  Batch gap_{Format::json};
  std::uint64_t rotate_at_ = 0;
  std::string problem_;
  std::vector<std::function<void(std::string_view)>> taps_;
  std::function<void(const std::string&, const Head&)> on_rotate_;
  Rotator rotator_;
  std::optional<LineRelay> relay_;  // set: another process writes the lines
  std::atomic<std::uint64_t> events_{0}, gaps_{0}, failures_{0};
  std::atomic<bool> healthy_{true};
};

}  // namespace stile::audit
