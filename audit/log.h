// Log: the one audit log that all workers write to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acl/result.h"
#include "audit/batch.h"
#include "audit/chain.h"
#include "audit/file.h"
#include "audit/format.h"
#include "audit/torn.h"

namespace stile::audit {

// Thread-safe; a lack of memory is a failed write. The process must ignore SIGPIPE and SIGXFSZ:
// both arrive here as errors of write(2).
class Log {
 public:
  // The last line of the log: what the journal is told at stop and at rotation.
  struct Head {
    std::uint64_t seq = 0;  // 0: there is none yet
    std::string hash;       // lower-case hex, 64 digits
  };

  struct Options {
    std::string path = "-";     // "-": standard output
    bool follows_links = true;  // false: no part of the path may be a link; see File::Links
    Format format = Format::json;
    std::shared_ptr<const LogFormat> lines{};  // of Format::squid; null: its native one
    bool chain = true;
    bool deny_on_failure = true;
    std::uint64_t max_bytes = 0;  // > 0: path becomes path.1 when it would grow beyond
    std::uint32_t keep = 10;      // so many of path.1, path.2, … at least 1
    // The head that the state directory remembers. If the files end before it, lines have gone;
    // the chain goes on from here all the same, so that `verify` sees that they are missing.
    Head resume{};
  };

  // Goes on from the last line of an existing file, or of path.1 if there is none. A torn last
  // line is ended and named by an audit-gap. Fails if the file cannot be opened, is locked by
  // another process, or holds something that is no audit log.
  static Result<std::unique_ptr<Log>> open(Options options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // One write(2) for the whole batch, which is empty afterwards. Returns how many leading records
  // are in the log now; under on_failure = "continue" always all. What could not be written is
  // lost and counted, but for what has happened all the same (`close`, `policy`, `start`, `stop`,
  // refusals with a `count`): that waits, and is written first when writing works again.
  [[nodiscard]] std::size_t write(Batch& batch);

  // What a reload may change.
  struct Bounds {
    bool deny_on_failure = true;
    std::uint64_t max_bytes = 0;
    std::uint32_t keep = 10;
  };
  void set_bounds(const Bounds& bounds);
  // Whether a log of this name can be rotated by size; it can if it never is.
  [[nodiscard]] static Result<void> check_rotation(const std::string& path,
                                                   std::uint64_t max_bytes);

  // To be called about once a second: tries to write what waits.
  void retry();

  // Goes on in the file that now has the name (after a rename by logrotate). On error the log goes
  // on in the file that it had. Returns the last line of the file that was left.
  Result<Head> reopen();

  // Whether the path still leads to the file that is written. True for what is no file.
  [[nodiscard]] bool is_in_place() const;

  // For records that are to be written here; must not outlive the log.
  [[nodiscard]] Batch new_batch() const { return Batch{options_.format, options_.lines.get()}; }
  [[nodiscard]] Head head() const;
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }  // lines written
  // Records that were lost, and torn lines.
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }
  // False while something waits to be written, or the last write failed.
  [[nodiscard]] bool healthy() const noexcept { return healthy_; }
  // Whether a request that needs a line would be refused now.
  [[nodiscard]] bool must_refuse() const noexcept { return !healthy_ && options_.deny_on_failure; }
  // How often a write has failed.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }
  // Why it is not healthy and what that means, or why a rotation failed; for people. Empty if
  // neither.
  [[nodiscard]] std::string problem() const;

  // All three are called under the log's lock and must be quick; they must not call the log.
  // With the lines just written, whole and with newlines: for `tail`.
  void set_tap(std::function<void(std::string_view lines)> tap);  // in the place of all others
  void add_tap(std::function<void(std::string_view lines)> tap);
  // With the name of the file that a rotation by size closed, and its last line.
  void set_on_rotate(std::function<void(const std::string& file, const Head& head)> on_rotate);
  // Does what rotate() in audit/rotate.h does, for writers that may not open files themselves.
  using Rotator = std::function<Result<File>(const std::string& path, std::uint32_t keep)>;
  void set_rotator(Rotator rotator);

 private:
  explicit Log(Options options);
  Result<void> recover();
  bool flush_waiting();
  std::size_t put(const Batch& batch);
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
  // Where a line of out_ ends, and the chain after it.
  struct Mark {
    std::size_t end;
    ChainHead head;
  };

  Options options_;  // but for set_bounds() they stay as they are
  mutable std::mutex mutex_;
  File file_;
  Linker linker_;
  ChainHead head_;  // of the last line that is in the file
  Torn torn_;       // what stands behind that line in the file
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
  std::atomic<std::uint64_t> events_{0}, gaps_{0}, failures_{0};
  std::atomic<bool> healthy_{true};
};

}  // namespace stile::audit
