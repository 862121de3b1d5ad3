// ChainCheck: checks the lines of a log one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/chain.h"
#include "audit/line.h"
#include "audit/torn.h"

namespace stile::audit {

struct LinePlace {
  std::string_view file;
  std::uint64_t line = 0;
  [[nodiscard]] std::string text() const;  // "audit.jsonl:17"
};

class ChainCheck {
 public:
  struct Violation {
    LinePlace place;
    std::string why;
  };

  // Checks the next line, without its newline. True: it is whole and valid so far; `line` is
  // filled. A torn line is neither accepted nor refused until the next line is known. False with
  // violation(): stop.
  bool add(const LinePlace& place, std::string_view bytes, Line& line);
  // Ends the input. `is_ended`: the last line had its newline.
  void finish(bool is_ended);

  [[nodiscard]] const std::optional<Violation>& violation() const noexcept { return violation_; }
  // Set if the last line is torn and no audit-gap of a later process names it.
  [[nodiscard]] const std::optional<LinePlace>& torn_end() const noexcept { return torn_at_; }
  [[nodiscard]] const ChainHead& head() const noexcept { return head_; }
  [[nodiscard]] std::uint64_t first_seq() const noexcept { return first_seq_; }

 private:
  bool fail(const LinePlace& place, std::string why);
  bool check_begin(const LinePlace& place, const Line& line);
  bool check_seq(const LinePlace& place, const Line& line);
  bool check_torn(const LinePlace& place, const Line& line);
  // Line `later` has a link that is not the hash of the line before it, `earlier`. The next line
  // shows which of the two was changed: its link is the hash of `later`, or not.
  struct Suspicion {
    LinePlace earlier, later;
    HexHash later_hash;
  };
  void resolve(const Suspicion& suspicion, std::string_view next_prev);

  Sha256 sha_;
  ChainHead head_;
  LinePlace last_;
  std::uint64_t first_seq_ = 0;  // 0: no line yet
  Torn torn_;
  std::optional<LinePlace> torn_at_;
  std::optional<Suspicion> suspicion_;
  std::optional<Violation> violation_;
};

}  // namespace stile::audit
