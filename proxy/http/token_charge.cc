// What an answer costs: the report if there is all of it, else the size of what was seen.
#include "proxy/http/token_charge.h"

namespace stile::http {
namespace {

// Few texts have tokens that are shorter on the whole. Each event of a stream has a few tokens in a
// hundred bytes and more of JSON.
constexpr std::uint64_t bytes_per_token = 2, bytes_per_streamed_token = 4;

}  // namespace

TokenCharge token_charge(const AnswerFacts& facts, const UsageReader* usage) noexcept {
  if (facts.bytes_up == 0 || facts.status >= 300) return {};
  const bool has_report = usage != nullptr && usage->has_report();
  if (facts.is_whole && has_report) return {usage->tokens(), true};
  if (facts.is_whole && !facts.can_spend && !facts.has_body) return {};
  const bool is_json = usage != nullptr && !facts.is_stream && !usage->is_unfinished();
  if (facts.is_whole && is_json && (!facts.can_spend || usage->is_only_a_count())) return {};
  const std::uint64_t up = facts.bytes_up / bytes_per_token;
  const std::uint64_t down =
      facts.bytes_down / (facts.is_stream ? bytes_per_streamed_token : bytes_per_token);
  const std::uint64_t reported = has_report ? usage->tokens() : 0;
  const std::uint64_t input = has_report && usage->has_input() ? reported : up + reported;
  return {input + down, !facts.can_spend};
}

}  // namespace stile::http
