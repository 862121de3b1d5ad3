// AnswerTokens: what an answer says it used of the token budget of its host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/gunzip.h"
#include "proxy/http/head.h"
#include "proxy/http/usage.h"
#include "proxy/session/request.h"

namespace stile::session {

class AnswerTokens {
 public:
  explicit AnswerTokens(Request& request) noexcept : request_{request} {}

  // The answer to read. Its body is estimated if it cannot be read.
  void begin(const http::ResponseHead& head);
  void read(std::string_view body);
  // Charges the answer. `status` is that of the answer that the client saw, 0 if it saw none.
  void settle(int status, bool is_whole);

 private:
  Request& request_;
  std::optional<http::UsageReader> reader_;
  std::optional<http::Gunzip> gunzip_;
  std::uint64_t decoded_ = 0;  // bytes that it gave
  bool has_body_ = false, is_stream_ = false;
};

}  // namespace stile::session
