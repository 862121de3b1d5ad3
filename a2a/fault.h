// Fault: why a request of an A2A caller failed, with the codes of the specification. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::a2a {

enum class Problem : std::uint8_t {
  // Of JSON-RPC.
  not_json,
  invalid_request,
  method_not_found,
  invalid_params,
  internal,
  // Of A2A.
  task_not_found,
  task_not_cancelable,
  push_not_supported,
  unsupported_operation,
  content_type_not_supported,
  no_extended_card,
  version_not_supported,
  // Of this server.
  unauthenticated,
  unavailable,
};

struct ProblemCodes {
  int rpc = 0;              // `code` of a JSON-RPC error
  unsigned http = 0;        // status of an HTTP answer
  std::string_view status;  // its name in google.rpc.Code
  std::string_view reason;  // of google.rpc.ErrorInfo; "": the problem is none of A2A's own
};
[[nodiscard]] ProblemCodes codes(Problem problem) noexcept;

struct Fault {
  Problem problem = Problem::internal;
  std::string message;  // for people
};

template <class T>
using Outcome = boost::system::result<T, Fault>;

// The body of an answer over HTTP+JSON, and over JSON-RPC; `id` is JSON text.
[[nodiscard]] std::string rest_error(const Fault& fault);
[[nodiscard]] std::string rpc_error(const Fault& fault, std::string_view id);

}  // namespace stile::a2a
