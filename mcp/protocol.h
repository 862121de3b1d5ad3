// Protocol: what each message of a client leads to, in both eras of MCP. Pure: transports read,
// write and run tools.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_value.h"
#include "mcp/message.h"
#include "mcp/tool.h"

namespace stile::mcp {

inline constexpr std::string_view stateless_version = "2026-07-28";
inline constexpr std::string_view session_version = "2025-11-25";
inline constexpr std::string_view older_session_version = "2025-06-18";

// The headers of an HTTP request that say what is in its body.
struct HttpHeaders {
  std::optional<std::string> version, method, name;
};

// What a client of the session era said first.
struct Handshake {
  std::string version;  // empty: nothing yet
  Json capabilities;
};

// A message for the client, and the status of the HTTP answer that carries it.
struct Reply {
  std::string text;
  unsigned status = 200;
};
// The call with this id is not wanted any more.
struct Cancel {
  Json id;
};
struct Accepted {};  // nothing to say
using Step = std::variant<Reply, ToolCall, Cancel, Accepted>;

class Protocol {
 public:
  // `version` is that of the program.
  Protocol(std::string version, std::string instructions, const ToolBox& tools);

  // `headers`: null on stdio.
  [[nodiscard]] static Era era_of(const RpcMessage& message, const HttpHeaders* headers);
  [[nodiscard]] Step take(const RpcMessage& message, Handshake& handshake,
                          const HttpHeaders* headers) const;
  // The last message about a call.
  [[nodiscard]] Reply finish(const ToolCall& call, const ToolOutcome& outcome) const;

  [[nodiscard]] static Reply refuse(const BadMessage& bad);
  [[nodiscard]] static Reply refuse(const Json& id, Era era, const RpcFault& fault);
  [[nodiscard]] static std::string progress_text(const ToolCall& call, double done, double total,
                                                 const std::string& message);

 private:
  [[nodiscard]] Step take_request(const RpcMessage& message, Era era, Handshake& handshake) const;
  [[nodiscard]] Step take_call(const RpcMessage& message, Era era, const Json& capabilities) const;
  [[nodiscard]] Reply greet(const RpcMessage& message, Handshake& handshake) const;
  [[nodiscard]] Reply list_tools(const RpcMessage& message, Era era) const;
  [[nodiscard]] Reply answer(const Json& id, Era era, Json result) const;
  [[nodiscard]] Json server_info() const;

  std::string version_, instructions_;
  const ToolBox& tools_;
};

}  // namespace stile::mcp
