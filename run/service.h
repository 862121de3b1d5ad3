// Service: serves the listener inside: this process, or a running daemon.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::run {

// What the command has to trust, and variables with placeholders of a daemon's secrets.
struct Trust {
  std::string ca;                      // PEM; "": nothing is opened
  std::vector<std::string> variables;  // "NAME=placeholder"
};

class Service {
 public:
  virtual ~Service() = default;
  // No thread starts before this call, and nothing is opened as root after it.
  // `captured`: as open_capture returned them; only of a service that can_capture().
  [[nodiscard]] virtual Result<void> serve(UniqueFd listener, std::vector<UniqueFd> captured) = 0;
  [[nodiscard]] virtual bool can_capture() const { return false; }
  // Called about once a second.
  virtual void tick() = 0;
  // The agent's id for operators: stile allow AGENT …
  [[nodiscard]] virtual const std::string& agent() const = 0;
  // For hosts that are opened.
  [[nodiscard]] virtual Trust trust() const { return {}; }
  // Closes all connections. Afterwards the summary is complete.
  virtual void stop() = 0;
  // Whether the path of the log still refers to the file that was written.
  [[nodiscard]] virtual bool is_log_in_place() const { return true; }
};

}  // namespace stile::run
