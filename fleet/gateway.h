// Gateway: what is said to etcd's JSON gateway, and what it answers. Pure; the store is not
// trusted, so every answer is read strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::fleet {

// One answer, or one message of a watch. A page has at most `page_size` objects of 1 MiB, and
// base64 makes them a third larger.
inline constexpr std::size_t page_size = 8;
inline constexpr std::size_t max_answer_bytes = std::size_t{16} << 20U;

// Keys from `first` up to and without `end`; an empty end: `first` alone.
struct Range {
  std::string first, end;
};
// Everything that begins with the text.
[[nodiscard]] Range range_below(std::string prefix);

struct Pair {
  std::string key, value;
  std::int64_t mod_revision = 0;
};

struct RangeOptions {
  std::int64_t revision = 0;  // of the store, to read pages of one moment; 0: now
  std::size_t limit = page_size;
  bool keys_only = false;
};
[[nodiscard]] std::string range_request(const Range& range, const RangeOptions& options);
struct RangeAnswer {
  std::int64_t revision = 0;
  std::vector<Pair> pairs;
  bool has_more = false;
};
[[nodiscard]] Result<RangeAnswer> parse_range(std::string_view text);

[[nodiscard]] std::string put_request(std::string_view key, std::string_view value,
                                      std::int64_t lease);
// Writes the value if the key is as it was at that revision; 0: if there is no such key.
[[nodiscard]] std::string swap_request(std::string_view key, std::string_view value,
                                       std::int64_t mod_revision);
// Whether it was written.
[[nodiscard]] Result<bool> parse_transaction(std::string_view text);

[[nodiscard]] std::string grant_request(std::int64_t ttl_seconds);
[[nodiscard]] Result<std::int64_t> parse_lease(std::string_view text);
[[nodiscard]] std::string keep_request(std::int64_t lease);
// Whether the lease still exists.
[[nodiscard]] Result<bool> parse_kept_lease(std::string_view text);

[[nodiscard]] std::string login_request(std::string_view user, std::string_view password);
[[nodiscard]] Result<std::string> parse_token(std::string_view text);

// Changes of all ranges, from that revision on, as one stream.
[[nodiscard]] std::string watch_request(const std::vector<Range>& ranges, std::int64_t revision);
struct Watched {
  std::int64_t revision = 0;
  std::vector<Pair> pairs;    // written; what was deleted is left out
  bool is_cancelled = false;  // also if the revision is compacted
};
[[nodiscard]] Result<Watched> parse_watched(std::string_view line);

// The sentence in an answer that is an error; otherwise the status.
[[nodiscard]] std::string error_of(unsigned status, std::string_view text);

}  // namespace stile::fleet
