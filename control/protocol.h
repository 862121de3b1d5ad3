// The words and limits of the control protocol, shared by the daemon and its clients.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::control {

// One request, without its newline.
inline constexpr std::size_t max_request_bytes = 64 * 1024;

enum class ErrorCode : std::uint8_t {
  bad_request,
  too_large,
  unknown_action,
  unknown_agent,
  forbidden,
  conflict,
  denied_by_rule,
  config_error,
  internal,
};

[[nodiscard]] constexpr std::string_view text(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::bad_request:
      return "bad-request";
    case ErrorCode::too_large:
      return "too-large";
    case ErrorCode::unknown_action:
      return "unknown-action";
    case ErrorCode::unknown_agent:
      return "unknown-agent";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::denied_by_rule:
      return "denied-by-rule";
    case ErrorCode::config_error:
      return "config-error";
    case ErrorCode::internal:
      break;
  }
  return "internal";
}

// Why a request failed.
struct Failure {
  ErrorCode code = ErrorCode::internal;
  std::string message;    // for people; never parsed
  std::string hint = {};  // what to type next; may be empty
};

template <class T>
using Outcome = boost::system::result<T, Failure>;

}  // namespace stile::control
