// OutcomeFile: the daemon reports the result of the last `-k reconfigure` and `-k rotate` to -k.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::squid {

struct SignalOutcome {
  bool is_done = false;
  std::string text;  // for people: what was done, or why not; may be empty
};

class OutcomeFile {
 public:
  enum class Action : std::uint8_t { reconfigure, rotate };
  using Time = std::chrono::steady_clock::time_point;

  // Next to the pid file. Without a pid file nothing is written.
  static Result<OutcomeFile> create(const std::string& pid_file);
  static Result<OutcomeFile> open(const std::string& pid_file);
  OutcomeFile(OutcomeFile&&) noexcept = default;
  OutcomeFile& operator=(OutcomeFile&&) = delete;
  ~OutcomeFile();

  // `asked`: when the daemon got the signal. The text is cut to fit.
  void write(Action action, Time asked, const SignalOutcome& outcome) const;
  // The result of an action that the daemon began at this time or later; nullopt: none yet.
  [[nodiscard]] std::optional<SignalOutcome> read(Action action, Time not_before) const;

 private:
  OutcomeFile(std::string path, UniqueFd fd) : path_{std::move(path)}, fd_{std::move(fd)} {}
  std::string path_;  // empty: do not remove it
  UniqueFd fd_;
};

}  // namespace stile::squid
