// Fault: the table of codes, and errors as JSON.
#include "a2a/fault.h"

#include "base/json.h"

namespace stile::a2a {
namespace {

// google.rpc.ErrorInfo; several problems share one status of HTTP.
void add_details(std::string& out, const ProblemCodes& known) {
  JsonArray list{out};
  JsonObject{list.next()}
      .add("@type", "type.googleapis.com/google.rpc.ErrorInfo")
      .add("reason", known.reason)
      .add("domain", "a2a-protocol.org");
}

}  // namespace

ProblemCodes codes(Problem problem) noexcept {
  switch (problem) {
    case Problem::not_json:
      return {-32700, 400, "INVALID_ARGUMENT", ""};
    case Problem::invalid_request:
      return {-32600, 400, "INVALID_ARGUMENT", ""};
    case Problem::method_not_found:
      return {-32601, 404, "NOT_FOUND", ""};
    case Problem::invalid_params:
      return {-32602, 400, "INVALID_ARGUMENT", ""};
    case Problem::internal:
      break;
    case Problem::task_not_found:
      return {-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"};
    case Problem::task_not_cancelable:
      return {-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"};
    case Problem::push_not_supported:
      return {-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"};
    case Problem::unsupported_operation:
      return {-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"};
    case Problem::content_type_not_supported:
      return {-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"};
    case Problem::no_extended_card:
      return {-32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"};
    case Problem::version_not_supported:
      return {-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"};
    case Problem::unauthenticated:
      return {-32000, 401, "UNAUTHENTICATED", ""};
    case Problem::unavailable:
      return {-32603, 503, "UNAVAILABLE", ""};
  }
  return {-32603, 500, "INTERNAL", ""};
}

std::string rest_error(const Fault& fault) {
  const auto known = codes(fault.problem);
  std::string out;
  {
    JsonObject object{out};
    JsonObject error{object.key("error")};
    error.add("code", known.http).add("status", known.status).add("message", fault.message);
    if (!known.reason.empty()) add_details(error.key("details"), known);
  }
  return out;
}

std::string rpc_error(const Fault& fault, std::string_view id) {
  const auto known = codes(fault.problem);
  std::string out;
  {
    JsonObject object{out};
    object.add("jsonrpc", "2.0").key("id") += id;
    JsonObject error{object.key("error")};
    error.add("code", known.rpc).add("message", fault.message);
    if (!known.reason.empty()) add_details(error.key("data"), known);
  }
  return out;
}

}  // namespace stile::a2a
