// Messages of MCP clients: any bytes are a message or are refused with a reason, and lead to the
// same step again; lines do not depend on how they arrive.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mcp/captain.h"
#include "mcp/line_reader.h"
#include "mcp/protocol.h"
#include "tests/fuzz/check.h"

using namespace stile;
using namespace stile::mcp;

namespace {

Captain& captain() {
  const auto nobody = [](const Json&) -> Result<DaemonAnswer> { return Error{"nobody is there"}; };
  static Captain one{{nobody, nobody}};
  return one;
}

void check_reply(const Reply& reply) {
  STILE_FUZZ_CHECK(reply.text.find('\n') == std::string::npos);
  STILE_FUZZ_CHECK(text_of(Json::parse(reply.text), "jsonrpc") == "2.0");
  STILE_FUZZ_CHECK(reply.status >= 200 && reply.status < 500);
}

void take(std::string_view text, Handshake handshake, const HttpHeaders* headers) {
  static const Protocol protocol{"1", "x", captain()};
  const auto message = parse_message(text);
  if (!message) return check_reply(Protocol::refuse(message.error()));
  const auto step = protocol.take(*message, handshake, headers);
  if (const auto* reply = std::get_if<Reply>(&step)) check_reply(*reply);
  if (const auto* call = std::get_if<ToolCall>(&step)) {
    STILE_FUZZ_CHECK(call->arguments.is_object() && !call->id.is_null());
    check_reply(protocol.finish(*call, plain_result("x")));
  }
  if (message->kind == RpcMessage::Kind::request) {
    STILE_FUZZ_CHECK(!std::holds_alternative<Accepted>(step) &&
                     !std::holds_alternative<Cancel>(step));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const HttpHeaders headers{"2026-07-28", "tools/call", "send_task"};
  take(text, {"2025-11-25", Json::object()}, nullptr);
  take(text, {}, &headers);

  LineReader whole{64}, pieces{64};
  whole.add(text);
  std::string first, second;
  const auto add = [](LineReader& reader, std::string& out) {
    while (const auto line = reader.next()) out += line->is_too_long ? "!\n" : line->text + '\n';
  };
  add(whole, first);
  for (std::size_t i = 0; i < size && i < 4096; ++i) {
    pieces.add(text.substr(i, 1));
    add(pieces, second);
  }
  STILE_FUZZ_CHECK(size > 4096 || first == second);
  return 0;
}
