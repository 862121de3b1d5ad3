// RpcMessage: one JSON-RPC 2.0 message of a client. Pure.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_value.h"

namespace stile::mcp {

inline constexpr std::size_t max_message_bytes = std::size_t{256} << 10U;
inline constexpr std::size_t max_message_values = 4096;
inline constexpr std::size_t max_id_bytes = 256;
inline constexpr std::size_t max_method_bytes = 128;

// Codes of errors, of JSON-RPC and of MCP.
enum class RpcCode : std::int32_t {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  too_busy = -32000,
  header_mismatch = -32020,
  missing_capability = -32021,
  unsupported_version = -32022,
};

struct RpcFault {
  RpcCode code = RpcCode::internal_error;
  std::string message = {};
  Json data = {};  // null: none
};

struct RpcMessage {
  enum class Kind : std::uint8_t { request, notification, response };
  Kind kind = Kind::notification;
  Json id;             // a text or an integer; null for a notification
  std::string method;  // empty for a response
  Json params;         // an object; null: none
};

// What could be read of a message that is invalid: the answer names the same id.
struct BadMessage {
  RpcFault fault;
  Json id;
};

// A batch is an error: both eras of the protocol have none.
[[nodiscard]] boost::system::result<RpcMessage, BadMessage> parse_message(std::string_view text);

// Messages to the client, each one line without its newline.
[[nodiscard]] std::string result_text(const Json& id, const Json& result);
[[nodiscard]] std::string fault_text(const Json& id, const RpcFault& fault);
[[nodiscard]] std::string notification_text(std::string_view method, const Json& params);

}  // namespace stile::mcp
