// Journal: the spawner's own audit log, in the chained format of the daemon's.
#pragma once

#include <sys/types.h>

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
  void refuse(const Caller& peer, const Entry& entry);

 private:
  explicit Journal(std::unique_ptr<audit::Log> log) : log_{std::move(log)} {}
  bool write(audit::Event event, const Caller* peer, const Entry& entry);
  std::unique_ptr<audit::Log> log_;
};

}  // namespace stile::spawn
