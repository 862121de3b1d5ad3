// StandardStreams: the caller's standard descriptors as they were before the command had them.
#pragma once

#include <array>

namespace stile::run {

// The command shares them with `stile` and with whoever started it. If it makes standard error
// non-blocking, or stops the terminal's output, the summary would be lost or never printed.
class StandardStreams {
 public:
  // Create it before the command starts.
  StandardStreams();
  void restore() const;

 private:
  std::array<int, 3> flags_{};  // -1: closed
};

}  // namespace stile::run
