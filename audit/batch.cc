// Batch: one text, and the end of each record in it.
#include "audit/batch.h"

#include "audit/json_line.h"
#include "audit/squid_line.h"

namespace stile::audit {
namespace {

// An `open`, a `deny`, an `answer` or a `grant` takes effect only if its line is in the log. A
// refusal with a `count` has already been answered.
bool has_happened(const Record& record) {
  switch (record.event) {
    case Event::close:
    case Event::ask:
    case Event::policy:
    case Event::start:
    case Event::stop:
      return true;
    case Event::deny:
      return record.count > 0;
    case Event::open:
    case Event::answer:
    case Event::grant:
    case Event::audit_gap:
      return false;
  }
  return false;
}

}  // namespace

void Batch::add(const Record& record) {
  const std::size_t begin = text_.size();
  try {
    std::size_t number_at = begin;
    if (format_ == Format::json) {
      number_at = append_json(text_, record, time_);
    } else if (lines_ != nullptr) {
      lines_->append(text_, record);
    } else {
      append_squid(text_, record);
    }
    entries_.push_back({has_happened(record), number_at, text_.size()});
  } catch (...) {
    text_.resize(begin);  // no memory: remove the incomplete record
    throw;
  }
}

void Batch::add_piece(bool has_happened, std::string_view before, std::string_view after) {
  const std::size_t begin = text_.size();
  entries_.reserve(entries_.size() + 1);
  text_.reserve(begin + before.size() + after.size());
  text_.append(before).append(after);
  entries_.push_back({has_happened, begin + before.size(), text_.size()});
}

void Batch::clear() noexcept {
  text_.clear();
  entries_.clear();
}

Batch::Piece Batch::piece(std::size_t index) const noexcept {
  const std::string_view text{text_};
  const Entry& entry = entries_[index];
  const std::size_t begin = index == 0 ? 0 : entries_[index - 1].end;
  return {entry.has_happened, text.substr(begin, entry.number_at - begin),
          text.substr(entry.number_at, entry.end - entry.number_at)};
}

}  // namespace stile::audit
