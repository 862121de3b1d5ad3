// RpcMessage: read strictly, within bounds.
#include "mcp/message.h"

#include <utility>

namespace stile::mcp {
namespace {

bool is_id(const Json& id) {
  return id.is_integer() || (id.is_text() && id.text().size() <= max_id_bytes);
}

BadMessage bad(std::string message, const Json* id = nullptr) {
  const bool names_it = id != nullptr && is_id(*id);
  return {{RpcCode::invalid_request, std::move(message), {}}, names_it ? *id : Json{}};
}

}  // namespace

boost::system::result<RpcMessage, BadMessage> parse_message(std::string_view text) {
  if (text.size() > max_message_bytes) return bad("a message has at most 262144 bytes");
  const auto json = Json::parse_strictly(text, max_message_values);
  if (!json) {
    return BadMessage{{RpcCode::parse_error,
                       "not JSON, nested too deeply, too many values, or a key that is there twice",
                       {}},
                      {}};
  }
  if (json->is_list()) return bad("there are no batches; send one message");
  if (!json->is_object()) return bad("a message is a JSON object");
  const Json* id = json->find("id");
  if (text_of(*json, "jsonrpc") != "2.0") return bad("jsonrpc must be \"2.0\"", id);
  if (id != nullptr && !is_id(*id)) return bad("id must be an integer or a string of 256 bytes");
  RpcMessage message;
  if (id != nullptr) message.id = *id;
  const Json* method = json->find("method");
  if (method == nullptr) {
    const bool is_response =
        id != nullptr && (json->find("result") != nullptr) != (json->find("error") != nullptr);
    if (!is_response) return bad("method is missing", id);
    message.kind = RpcMessage::Kind::response;
    return message;
  }
  if (!method->is_text() || method->text().empty() || method->text().size() > max_method_bytes) {
    return bad("method must be a string of 1 to 128 bytes", id);
  }
  message.kind = id == nullptr ? RpcMessage::Kind::notification : RpcMessage::Kind::request;
  message.method = method->text();
  if (const Json* params = json->find("params")) {
    if (!params->is_object()) return bad("params must be an object", id);
    message.params = *params;
  }
  return message;
}

std::string result_text(const Json& id, const Json& result) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}.dump();
}

std::string fault_text(const Json& id, const RpcFault& fault) {
  Json error{{"code", static_cast<std::int64_t>(fault.code)}, {"message", fault.message}};
  if (!fault.data.is_null()) error.set("data", fault.data);
  Json answer{{"jsonrpc", "2.0"}};
  // JSON-RPC has null for an id that could not be read; the schema of 2026-07-28 leaves it out, and
  // both kinds of clients accept that.
  if (!id.is_null()) answer.set("id", id);
  answer.set("error", std::move(error));
  return answer.dump();
}

std::string notification_text(std::string_view method, const Json& params) {
  return Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump();
}

}  // namespace stile::mcp
