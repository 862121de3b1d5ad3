// What an answer costs of a budget of tokens: as it reports, or estimated. Pure.
#pragma once

#include <cstdint>

#include "proxy/http/usage.h"

namespace stile::http {

struct AnswerFacts {
  bool can_spend = true;  // the request could use tokens
  bool is_whole = false;  // the answer came to its end
  bool has_body = false, is_stream = false;
  int status = 0;                              // 0: no answer came
  std::uint64_t bytes_up = 0, bytes_down = 0;  // the answer's after decoding
};

struct TokenCharge {
  std::uint64_t tokens = 0;
  bool is_all = true;  // false: the model may have used more
};

// `usage` has read the answer; null: it could not be read. An answer that is cut off, or that does
// not report, never counts as the whole truth: an agent could end each stream just before the
// report, or begin work that goes on after the answer.
[[nodiscard]] TokenCharge token_charge(const AnswerFacts& facts, const UsageReader* usage) noexcept;

}  // namespace stile::http
