// Journal: the spawner's own audit log, in the chained format of the daemon's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "base/result.h"

namespace stile::spawn {

// The process at the other end of a connection, as the kernel names it.
struct Caller {
  pid_t pid = 0;
  uid_t uid = 0;
};

class Journal {
 public:
  static Result<Journal> open(const std::string& path);

  struct Entry {
    std::string_view action, worker, detail;
  };
  // False: the line could not be written, and the action must not happen.
  [[nodiscard]] bool grant(const Caller& peer, const Entry& entry);
  void note(const Caller* peer, const Entry& entry);  // has happened
  // Beyond a rate for each user, refusals are only counted, in the next line of that user.
  void refuse(const Caller& peer, const Entry& entry);

  static constexpr int refusals_per_second = 10, refusals_at_once = 200;

 private:
  using Clock = std::chrono::steady_clock;
  struct Refusals {
    Clock::time_point next{};
    std::uint64_t unwritten = 0;
  };

  explicit Journal(std::unique_ptr<audit::Log> log) : log_{std::move(log)} {}
  bool write(audit::Event event, const Caller* peer, const Entry& entry, std::uint64_t count = 0);
  std::unique_ptr<audit::Log> log_;
  std::map<uid_t, Refusals> refusals_;
};

}  // namespace stile::spawn
