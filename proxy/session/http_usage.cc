// HttpExchange: what an answer says it used of the host's token budget.
#include <algorithm>

#include "acl/token_request.h"
#include "base/ascii.h"
#include "proxy/http/token_charge.h"
#include "proxy/session/http_exchange.h"

namespace stile::session {
namespace {

constexpr std::size_t decoded_at_once = 64 * 1024;
// An answer that decompresses to more is not read on; nor is one of which a single read does, since
// other connections wait meanwhile.
constexpr std::uint64_t most_expansion = 64, least_decoded = 1024 * 1024;
constexpr std::uint64_t most_of_a_read = 1024 * 1024;

bool begins_with(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() && equal_ignoring_case(text.substr(0, begin.size()), begin);
}

}  // namespace

// Without a reader, an answer with a body is estimated.
void HttpExchange::begin_usage(const http::ResponseHead& head) {
  if (!request_.counted.counts_tokens()) return;
  usage_.reset();
  usage_gunzip_.reset();
  decoded_ = 0;
  bool is_encoded = false, is_gzip = false;
  std::optional<http::UsageReader::Form> form;
  for (const http::Field& field : head.fields) {
    if (equal_ignoring_case(field.name, "content-encoding") &&
        !equal_ignoring_case(field.value, "identity")) {
      is_gzip = !is_encoded && equal_ignoring_case(field.value, "gzip");
      is_encoded = true;
    } else if (equal_ignoring_case(field.name, "content-type")) {
      if (begins_with(field.value, "text/event-stream")) form = http::UsageReader::Form::events;
      if (begins_with(field.value, "application/json")) form = http::UsageReader::Form::json;
    }
  }
  if (!form || (is_encoded && !is_gzip)) return;
  usage_.emplace(*form);
  is_stream_ = *form == http::UsageReader::Form::events;
  if (is_gzip) usage_gunzip_.emplace();
}

void HttpExchange::read_usage(std::string_view body) {
  if (!usage_) return;
  if (!usage_gunzip_) return usage_->feed(body);
  std::string piece;
  const std::uint64_t most = std::min(
      decoded_ + most_of_a_read, std::max(least_decoded, most_expansion * request_.bytes_down));
  for (bool has_more = true; has_more;) {
    piece.clear();
    const bool is_good = usage_gunzip_->decode(body, piece, decoded_at_once);
    decoded_ += piece.size();
    if (!is_good || decoded_ > most) {
      usage_.reset();
      return;
    }
    usage_->feed(piece);
    has_more = piece.size() == decoded_at_once || (!body.empty() && !piece.empty());
  }
}

void HttpExchange::settle_tokens(Reason reason) {
  http::AnswerFacts facts;
  facts.can_spend = acl::can_spend_tokens(request_.method, request_.other_method);
  facts.is_whole = reason == Reason::none && answer_is_whole_;
  facts.has_body = answer_has_body_;
  facts.is_stream = usage_ && is_stream_;
  facts.status = status_;
  facts.bytes_up = request_.bytes_up;
  facts.bytes_down = std::max(request_.bytes_down, decoded_);
  const http::TokenCharge charge = http::token_charge(facts, usage_ ? &*usage_ : nullptr);
  if (charge.is_all) {
    request_.counted.settle(charge.tokens);
  } else {
    request_.counted.settle_at_least(charge.tokens);
  }
}

}  // namespace stile::session
