// LogHealth: detects that the audit log fails, and that it works again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/log.h"

namespace stile::control {

struct LogNews {
  bool is_failing = false;
  std::uint64_t lost = 0;  // records, since it began to fail
  std::string text;        // for people
};

// Reports each change once. Checked once a second, so that a disk with room for only some of the
// lines does not fill the journal.
class LogHealth {
 public:
  [[nodiscard]] std::optional<LogNews> look(const audit::Log& log);

 private:
  bool is_failing_ = false;
  std::uint64_t failures_ = 0, gaps_ = 0;
};

}  // namespace stile::control
