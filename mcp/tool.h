// Tool: what a tool looks like to a client, and how it is called.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "base/json_value.h"
#include "mcp/message.h"

namespace stile::mcp {

struct Tool {
  std::string name, title, description;
  // Hints for clients: whether to ask a person before the call.
  bool only_reads = false, destroys = false, is_idempotent = false;
  bool reaches_out = false;  // deals with things that Stile does not control
  Json input_schema;
  Json output_schema;  // null: the result is text only
};

// The two eras of the protocol: with a handshake (2025-11-25), and without (2026-07-28).
enum class Era : std::uint8_t { session, stateless };

struct ToolCall {
  Json id;
  std::string tool;
  Json arguments;  // an object that fits the input schema
  Era era = Era::session;
  Json client_capabilities;
  Json progress_token;   // null: the client wants no progress
  Json input_responses;  // by the keys of an earlier InputRequired; null: none
  std::string request_state;
};

struct ToolResult {
  Json content;     // a list of content blocks
  Json structured;  // null: none
  bool is_error = false;
};
// Only for clients of the stateless era: it asks the user, and calls again with the answers.
struct InputRequired {
  Json requests;  // null: none
  std::string state;
};
using ToolOutcome = std::variant<ToolResult, InputRequired, RpcFault>;

// A tool result with this text.
[[nodiscard]] ToolResult plain_result(std::string text, bool is_error = false);

// What a running call can learn and say. A call runs on its own thread.
class CallContext {
 public:
  enum class State : std::uint8_t {
    wanted,
    canceled,   // the client does not want it any more
    abandoned,  // the server ends, or the client's session
  };
  CallContext() = default;
  virtual ~CallContext() = default;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;
  [[nodiscard]] virtual State state() const noexcept = 0;
  // Returns earlier if the call is not wanted any more.
  virtual void wait(std::chrono::milliseconds time) = 0;
  // `done` increases with each report. `total` 0: not known.
  virtual void report(double done, double total, const std::string& message) = 0;
};

class ToolBox {
 public:
  ToolBox() = default;
  virtual ~ToolBox() = default;
  ToolBox(const ToolBox&) = delete;
  ToolBox& operator=(const ToolBox&) = delete;
  [[nodiscard]] virtual const std::vector<Tool>& tools() const = 0;
  // Blocks. Called on several threads at the same time.
  [[nodiscard]] virtual ToolOutcome call(const ToolCall& call, CallContext& context) = 0;
};

}  // namespace stile::mcp
