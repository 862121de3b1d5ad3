// Batch: the lines of one turn of a worker's loop, formatted but not yet chained.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "audit/format.h"
#include "audit/log_format.h"
#include "audit/record.h"
#include "audit/text.h"

namespace stile::audit {

// Belongs to one thread. Its buffers are kept from turn to turn, so that adding allocates nothing
// once they have grown.
class Batch {
 public:
  // `lines`: another of squid's formats than its native one; must outlive the batch.
  explicit Batch(Format format, const LogFormat* lines = nullptr)
      : format_{format}, lines_{lines} {}

  // Formats at once: the record's views need to live for this call only. All of it, or nothing.
  void add(const Record& record);
  void clear() noexcept;

  // Records, also those that make no line in squid's format.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size(); }

  // A formatted record. JSON: `before` is followed by the line's number, then `after`, then the
  // end of the object. squid: `after` is the whole line; empty if the record makes none.
  struct Piece {
    bool has_happened;  // with or without its line; the rest happens only if its line is written
    std::string_view before, after;
  };
  [[nodiscard]] Piece piece(std::size_t index) const noexcept;

 private:
  struct Entry {
    bool has_happened;
    std::size_t number_at, end;
  };
  Format format_;
  const LogFormat* lines_;
  TimeText time_;
  std::string text_;
  std::vector<Entry> entries_;
};

}  // namespace stile::audit
