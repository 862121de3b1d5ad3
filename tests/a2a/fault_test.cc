// Faults: the codes of the specification, and the shape of errors in both bindings.
#include "a2a/fault.h"

#include <gtest/gtest.h>

namespace stile::a2a {
namespace {

// Section 5.4 of the A2A specification, and section 9.5 for the codes of JSON-RPC.
TEST(A2aFault, HasTheCodesOfTheSpecification) {
  struct Case {
    Problem problem;
    int rpc;
    unsigned http;
    std::string_view status, reason;
  };
  const Case cases[]{
      {Problem::not_json, -32700, 400, "INVALID_ARGUMENT", ""},
      {Problem::invalid_request, -32600, 400, "INVALID_ARGUMENT", ""},
      {Problem::method_not_found, -32601, 404, "NOT_FOUND", ""},
      {Problem::invalid_params, -32602, 400, "INVALID_ARGUMENT", ""},
      {Problem::internal, -32603, 500, "INTERNAL", ""},
      {Problem::task_not_found, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
      {Problem::task_not_cancelable, -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"},
      {Problem::push_not_supported, -32003, 400, "FAILED_PRECONDITION",
       "PUSH_NOTIFICATION_NOT_SUPPORTED"},
      {Problem::unsupported_operation, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"},
      {Problem::content_type_not_supported, -32005, 400, "INVALID_ARGUMENT",
       "CONTENT_TYPE_NOT_SUPPORTED"},
      {Problem::no_extended_card, -32007, 400, "FAILED_PRECONDITION",
       "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
      {Problem::version_not_supported, -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
      {Problem::unauthenticated, -32000, 401, "UNAUTHENTICATED", ""},
      {Problem::unavailable, -32603, 503, "UNAVAILABLE", ""},
  };
  for (const auto& one : cases) {
    const auto known = codes(one.problem);
    EXPECT_EQ(known.rpc, one.rpc) << one.rpc;
    EXPECT_EQ(known.http, one.http) << one.rpc;
    EXPECT_EQ(known.status, one.status) << one.rpc;
    EXPECT_EQ(known.reason, one.reason) << one.rpc;
  }
}

TEST(A2aFault, IsAStatusOverHttpAndAnErrorObjectOverJsonRpc) {
  const Fault fault{Problem::task_not_found, "no \"such\" task"};
  EXPECT_EQ(rest_error(fault),
            R"({"error":{"code":404,"status":"NOT_FOUND","message":"no \"such\" task","details":[)"
            R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",)"
            R"("domain":"a2a-protocol.org"}]}})");
  EXPECT_EQ(
      rpc_error(fault, "7"),
      R"({"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no \"such\" task","data":[)"
      R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",)"
      R"("domain":"a2a-protocol.org"}]}})");
  EXPECT_EQ(rpc_error({Problem::not_json, "x"}, "null"),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})");
}

}  // namespace
}  // namespace stile::a2a
