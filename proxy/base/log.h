// Diagnostics for the operator: lines on standard error with journald's level in front. Not the
// audit log.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace stile::log {

void error(std::string_view message);
void warning(std::string_view message);
void info(std::string_view message);
// Several lines, each written as its own line. Only for the contents of an operator's files: bytes
// from an agent must never begin a line.
void errors(std::string_view lines);
void warnings(std::string_view lines);

// For conditions that an agent or a full disk can repeat a million times: logs the first one, then
// at most one line every ten seconds with the number of suppressed messages.
class Throttle {
 public:
  // Writes a shorter message if memory for the text is short.
  void warning(std::string_view message, std::string_view detail = {}) noexcept;

 private:
  std::atomic<std::int64_t> next_s_{0};
  std::atomic<std::uint64_t> left_out_{0};
};

}  // namespace stile::log
