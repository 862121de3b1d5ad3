// LogLines: the lines of the current audit log in pieces, oldest first.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "audit/line_source.h"
#include "base/result.h"

namespace stile::control {

class LogLines {
 public:
  struct Options {
    std::string path;
    bool with_rotated = false;  // path.1, path.2, … before it
    std::string agent{};        // only its lines; empty: all
  };
  static Result<LogLines> open(Options options);

  // Appends some of the lines, each with its newline. False: there are no more. Lines written to
  // the log after the start are not shown. Each call reads a bounded piece, even if no line in it
  // matches.
  bool append_some(std::string& out);

 private:
  // One file, identified by what does not change if it is rotated while it is read.
  struct Part {
    dev_t device = 0;
    ino_t inode = 0;
    std::uint64_t size = 0;
  };
  explicit LogLines(Options options) : options_{std::move(options)} {}
  [[nodiscard]] bool open_next();

  Options options_;
  std::string agent_member_;
  std::vector<Part> parts_;  // still to be read, the oldest last
  std::unique_ptr<audit::LineSource> source_;
  std::uint64_t left_ = 0;  // remaining bytes of the current file
};

}  // namespace stile::control
