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

// Belongs to one thread. Keeps its buffers from turn to turn, so that add() does not allocate once
// they have grown.
class Batch {
 public:
  // `lines`: a squid format other than the native one; must outlive the batch.
  explicit Batch(Format format, const LogFormat* lines = nullptr)
      : format_{format}, lines_{lines} {}

  // Formats immediately: the record's views need to live only for this call. Adds all of it or
  // nothing.
  void add(const Record& record);
  // Adds a piece of another process's batch of the same format.
  void add_piece(bool has_happened, std::string_view before, std::string_view after);
  void clear() noexcept;

  // The number of records, including those that have no line in squid's format.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size(); }

  // A formatted record. JSON: `before` is followed by the line's number, then `after`, then the end
  // of the object. squid: `after` is the whole line; empty if the record has none.
  struct Piece {
    bool has_happened;  // even without its line; others take effect only if the line is written
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
