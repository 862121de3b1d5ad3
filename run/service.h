// Service: who serves the listener inside: this process, or a daemon that runs already.
#pragma once

#include <memory>
#include <string>

#include "acl/result.h"
#include "proxy/base/unique_fd.h"

namespace stile::run {

class Service {
 public:
  virtual ~Service() = default;
  // Before this no thread is started, and after it nothing is opened as root.
  [[nodiscard]] virtual Result<void> serve(UniqueFd listener) = 0;
  // About once a second.
  virtual void tick() = 0;
  // The command's name for operators: stile allow AGENT …
  [[nodiscard]] virtual const std::string& agent() const = 0;
  // Ends what is open; all that happened is in the summary then.
  virtual void stop() = 0;
  // Whether the name of the log still leads to the file that was written.
  [[nodiscard]] virtual bool is_log_in_place() const { return true; }
};

}  // namespace stile::run
