// LineRelay: the lines of a process whose log another process has taken over.
//
// One frame per batch: its length, then the pieces. The answer is how many leading records are in
// the log. A frame or an answer that is malformed ends the stream.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "audit/batch.h"
#include "base/unique_fd.h"

namespace stile::audit {

class Log;

class LineRelay {
 public:
  static constexpr std::size_t max_frame = std::size_t{64} << 20;

  explicit LineRelay(UniqueFd stream) noexcept : stream_{std::move(stream)} {}
  // Returns once the other process has written the lines: how many leading records are in the log.
  // nullopt: it is gone, or does not answer in time.
  [[nodiscard]] std::optional<std::size_t> write(const Batch& batch);

 private:
  UniqueFd stream_;
};

// Adds the pieces of a frame, without its length, to the batch. False: it is malformed.
[[nodiscard]] bool read_frame(std::string_view frame, Batch& batch);

// Writes the lines that arrive, until the other end closes the stream.
void write_relayed(const UniqueFd& stream, Log& log);

}  // namespace stile::audit
