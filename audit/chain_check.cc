// ChainCheck: checks that numbers have no gaps, links match, and torn lines are named.
#include "audit/chain_check.h"

#include "audit/format.h"
#include "audit/text.h"

namespace stile::audit {

std::string LinePlace::text() const { return std::string{file} + ":" + std::to_string(line); }

bool ChainCheck::add(const LinePlace& place, std::string_view bytes, Line& line) {
  const LineKind kind = read_line(bytes, line);
  if (suspicion_) {
    resolve(*suspicion_, kind == LineKind::whole ? line.raw(Key::prev) : std::string_view{});
    return false;
  }
  if (kind == LineKind::torn) {
    if (!torn_at_) torn_at_ = place;
    torn_.add(bytes);
    torn_.end_line();
    return false;
  }
  if (kind == LineKind::foreign) {
    if (torn_at_) return fail(*torn_at_, "is damaged, and no audit-gap line after it says so");
    if (bytes.size() > max_line_bytes) return fail(place, "is longer than any audit line");
    return fail(place, "is not an audit line");
  }
  if (!check_torn(place, line) || !check_begin(place, line) || !check_seq(place, line)) {
    return false;
  }
  const HexHash hash = sha_.hash(bytes);
  if (line.raw(Key::prev) != hash_text(head_.hash) && first_seq_ != 0) {
    suspicion_ = Suspicion{last_, place, hash};
    return false;
  }
  if (first_seq_ == 0) first_seq_ = line.number(Key::seq);
  head_ = {line.number(Key::seq), hash};
  last_ = place;
  torn_at_.reset();
  torn_.clear();
  return true;
}

bool ChainCheck::fail(const LinePlace& place, std::string why) {
  if (!violation_) violation_ = Violation{place, std::move(why)};
  return false;
}

bool ChainCheck::check_torn(const LinePlace& place, const Line& line) {
  const std::string_view named = line.raw(Key::torn);
  if (torn_at_) {
    const HexHash hash = torn_.hash();
    if (line.raw(Key::event) == "audit-gap" && named == hash_text(hash)) return true;
    return fail(*torn_at_, "is damaged, and the next line is not an audit-gap that names it");
  }
  // A line that lacks only its newline is valid, but an audit-gap still names it.
  if (named.empty() || named == hash_text(head_.hash) || first_seq_ == 0) return true;
  return fail(place, "names a torn line that does not come before it");
}

bool ChainCheck::check_begin(const LinePlace& place, const Line& line) {
  if (line.raw(Key::prev).size() != zero_hash.size()) {
    return fail(place,
                "carries no hash of the line before: the log was written with chain = false");
  }
  if (line.raw(Key::chain) != chain_name) return fail(place, "belongs to another chain");
  if (first_seq_ != 0) return true;
  const bool is_first = line.number(Key::seq) == 1;
  const bool has_none_before = line.raw(Key::prev) == hash_text(zero_hash);
  if (is_first == has_none_before) return true;
  return fail(place, is_first ? "has seq 1 but names a line before it"
                              : "names no line before it, but its seq is not 1");
}

bool ChainCheck::check_seq(const LinePlace& place, const Line& line) {
  const std::uint64_t seq = line.number(Key::seq);
  const std::uint64_t expected = head_.seq + 1;
  if (first_seq_ == 0 || seq == expected) return true;
  const std::string found =
      "has seq " + std::to_string(seq) + " after " + std::to_string(head_.seq);
  if (seq > expected) {
    const std::uint64_t missing = seq - expected;
    return fail(place, found + ": " + counted(missing, "line") + " before it " +
                           (missing == 1 ? "is" : "are") + " missing");
  }
  if (place.line == 1) {
    return fail(place, found + ": another chain, or the files are not given oldest first");
  }
  if (seq == 1 && line.raw(Key::prev) == hash_text(zero_hash)) {
    return fail(place, found + ": a new chain begins here");
  }
  return fail(place, found + ": it was put in or moved");
}

void ChainCheck::resolve(const Suspicion& suspicion, std::string_view next_prev) {
  if (next_prev == hash_text(suspicion.later_hash)) {
    fail(suspicion.earlier, "was changed: its hash is not the one that the next line names");
  } else if (!next_prev.empty()) {
    fail(suspicion.later,
         "was changed or put in: it fits neither the line before nor the next one");
  } else {
    fail(suspicion.later, "does not fit the line before it: one of the two was changed");
  }
}

void ChainCheck::finish(bool is_ended) {
  if (suspicion_) resolve(*suspicion_, {});
  if (torn_at_ && is_ended) {
    fail(*torn_at_, "is damaged, and no audit-gap line after it says so");
  }
}

}  // namespace stile::audit
