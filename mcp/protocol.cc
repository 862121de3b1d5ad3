// Protocol: one function per method, and the checks of each era before it.
#include "mcp/protocol.h"

#include <algorithm>
#include <utility>

#include "base/quoted.h"
#include "mcp/schema_check.h"

namespace stile::mcp {
namespace {

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view server_key = "io.modelcontextprotocol/serverInfo";
// The list changes with the program only.
constexpr std::uint64_t list_ttl_ms = 300'000;

Json versions() {
  return Json(std::vector<std::string>{std::string{stateless_version}, std::string{session_version},
                                       std::string{older_session_version}});
}

bool is_session_version(std::string_view version) {
  return version == session_version || version == older_session_version;
}

unsigned status_of(Era era, RpcCode code) {
  if (code == RpcCode::parse_error || code == RpcCode::invalid_request) return 400;
  // Clients of the session era take any other status for a failure of the connection.
  if (era == Era::session || code == RpcCode::internal_error || code == RpcCode::too_busy)
    return 200;
  return code == RpcCode::method_not_found ? 404 : 400;
}

std::optional<RpcFault> header_problem(const RpcMessage& message, const HttpHeaders& headers) {
  const auto mismatch = [](const std::string& name) {
    return RpcFault{RpcCode::header_mismatch,
                    "the header " + name + " is missing or differs from the message",
                    {}};
  };
  if (headers.version != text_of(object_of(message.params, "_meta"), version_key)) {
    return mismatch("MCP-Protocol-Version");
  }
  if (headers.method != message.method) return mismatch("Mcp-Method");
  // The headers let something between client and server judge a call without reading its body.
  if (message.method == "tools/call" && headers.name != text_of(message.params, "name")) {
    return mismatch("Mcp-Name");
  }
  return std::nullopt;
}

// What every request without a handshake has to say about itself.
std::optional<RpcFault> meta_problem(const RpcMessage& message, const HttpHeaders* headers) {
  const Json* meta = message.params.find("_meta");
  if (meta == nullptr || !meta->is_object()) {
    return RpcFault{RpcCode::invalid_params, "_meta is missing", {}};
  }
  const Json* version = meta->find(version_key);
  if (version == nullptr || !version->is_text()) {
    return RpcFault{RpcCode::invalid_params, "_meta has no " + std::string{version_key}, {}};
  }
  if (headers != nullptr) {
    if (auto problem = header_problem(message, *headers)) return problem;
  }
  if (version->text() != stateless_version) {
    return RpcFault{RpcCode::unsupported_version,
                    "this version of the protocol is not supported here",
                    {{"supported", versions()}, {"requested", *version}}};
  }
  const Json* capabilities = meta->find(capabilities_key);
  if (capabilities == nullptr || !capabilities->is_object()) {
    return RpcFault{RpcCode::invalid_params, "_meta has no " + std::string{capabilities_key}, {}};
  }
  return std::nullopt;
}

bool is_object_of_objects(const Json& value) {
  const auto& members = value.members();
  return value.is_object() && std::all_of(members.begin(), members.end(), [](const auto& member) {
           return member.second.is_object();
         });
}

// The parts of a call beside its name; an empty text: they are well formed.
std::string read_call(const Json& params, ToolCall& call) {
  call.arguments = Json::object();
  if (const Json* arguments = params.find("arguments")) {
    if (!arguments->is_object()) return "arguments must be an object";
    call.arguments = *arguments;
  }
  if (const Json* token = object_of(params, "_meta").find("progressToken")) {
    const bool is_token =
        token->is_integer() || (token->is_text() && token->text().size() <= max_id_bytes);
    if (!is_token) return "progressToken must be an integer or a string of 256 bytes";
    call.progress_token = *token;
  }
  if (const Json* responses = params.find("inputResponses")) {
    if (!is_object_of_objects(*responses)) return "inputResponses must be an object of objects";
    call.input_responses = *responses;
  }
  if (const Json* state = params.find("requestState")) {
    if (!state->is_text()) return "requestState must be a string";
    call.request_state = state->text();
  }
  return {};
}

Json shown(const Tool& tool) {
  Json json{{"name", tool.name},
            {"title", tool.title},
            {"description", tool.description},
            {"inputSchema", tool.input_schema}};
  if (!tool.output_schema.is_null()) json.set("outputSchema", tool.output_schema);
  Json hints{{"title", tool.title}, {"readOnlyHint", tool.only_reads}};
  if (!tool.only_reads) {
    hints.set("destructiveHint", tool.destroys);
    hints.set("idempotentHint", tool.is_idempotent);
  }
  hints.set("openWorldHint", tool.reaches_out);
  json.set("annotations", std::move(hints));
  return json;
}

}  // namespace

ToolResult plain_result(std::string text, bool is_error) {
  Json content = Json::list();
  content.add(Json{{"type", "text"}, {"text", std::move(text)}});
  return {std::move(content), {}, is_error};
}

Protocol::Protocol(std::string version, std::string instructions, const ToolBox& tools)
    : version_{std::move(version)}, instructions_{std::move(instructions)}, tools_{tools} {}

Era Protocol::era_of(const RpcMessage& message, const HttpHeaders* headers) {
  const bool names_version = object_of(message.params, "_meta").find(version_key) != nullptr;
  const bool header_says =
      headers != nullptr && headers->version && !is_session_version(*headers->version);
  const bool is_new = names_version || header_says || message.method == "server/discover";
  return is_new ? Era::stateless : Era::session;
}

Step Protocol::take(const RpcMessage& message, Handshake& handshake,
                    const HttpHeaders* headers) const {
  if (message.kind == RpcMessage::Kind::response) return Accepted{};  // nothing was asked
  if (message.kind == RpcMessage::Kind::notification) {
    const Json* id = message.params.find("requestId");
    if (message.method != "notifications/cancelled" || id == nullptr) return Accepted{};
    return Cancel{*id};
  }
  const Era era = era_of(message, headers);
  if (era == Era::stateless) {
    if (const auto problem = meta_problem(message, headers)) {
      return refuse(message.id, era, *problem);
    }
  }
  return take_request(message, era, handshake);
}

Step Protocol::take_request(const RpcMessage& message, Era era, Handshake& handshake) const {
  if (era == Era::session) {
    if (message.method == "initialize") return greet(message, handshake);
    if (message.method == "ping") return answer(message.id, era, Json::object());
    if (handshake.version.empty()) {
      return refuse(message.id, era,
                    {RpcCode::invalid_params,
                     "send initialize first, or the protocol version in _meta of each request",
                     {}});
    }
  } else if (message.method == "server/discover") {
    return answer(message.id, era,
                  {{"supportedVersions", versions()},
                   {"capabilities", Json{{"tools", Json::object()}}},
                   {"instructions", instructions_},
                   {"ttlMs", list_ttl_ms},
                   {"cacheScope", "private"}});
  }
  if (message.method == "tools/list") return list_tools(message, era);
  if (message.method == "tools/call") {
    return take_call(message, era,
                     era == Era::session
                         ? handshake.capabilities
                         : object_of(object_of(message.params, "_meta"), capabilities_key));
  }
  return refuse(message.id, era,
                {RpcCode::method_not_found, "there is no method " + in_quotes(message.method), {}});
}

Reply Protocol::greet(const RpcMessage& message, Handshake& handshake) const {
  const Json& params = message.params;
  if (!object_of(params, "protocolVersion").is_text() ||
      !object_of(params, "capabilities").is_object()) {
    return refuse(
        message.id, Era::session,
        {RpcCode::invalid_params, "initialize needs protocolVersion and capabilities", {}});
  }
  const auto asked = text_of(params, "protocolVersion");
  handshake.version = is_session_version(asked) ? asked : std::string{session_version};
  handshake.capabilities = object_of(params, "capabilities");
  return answer(message.id, Era::session,
                {{"protocolVersion", handshake.version},
                 {"capabilities", Json{{"tools", Json::object()}}},
                 {"serverInfo", server_info()},
                 {"instructions", instructions_}});
}

Reply Protocol::list_tools(const RpcMessage& message, Era era) const {
  if (has(message.params, "cursor")) {
    return refuse(message.id, era, {RpcCode::invalid_params, "there is one page only", {}});
  }
  Json tools = Json::list();
  for (const Tool& tool : tools_.tools()) tools.add(shown(tool));
  Json result{{"tools", std::move(tools)}};
  if (era == Era::stateless) {
    result.set("ttlMs", list_ttl_ms);
    result.set("cacheScope", "private");
  }
  return answer(message.id, era, std::move(result));
}

Step Protocol::take_call(const RpcMessage& message, Era era, const Json& capabilities) const {
  const auto invalid = [&](std::string problem) {
    return refuse(message.id, era, {RpcCode::invalid_params, std::move(problem), {}});
  };
  ToolCall call;
  call.id = message.id;
  call.era = era;
  call.client_capabilities = capabilities;
  const Json& name = object_of(message.params, "name");
  if (!name.is_text()) return invalid("name must be a string");
  call.tool = name.text();
  const auto& all = tools_.tools();
  const auto tool =
      std::find_if(all.begin(), all.end(), [&](const Tool& one) { return one.name == call.tool; });
  if (tool == all.end()) return invalid("there is no tool " + in_quotes(call.tool));
  if (auto problem = read_call(message.params, call); !problem.empty()) return invalid(problem);
  // A result and not an error of the protocol: the model reads it and can do better.
  if (auto problem = schema_problem(tool->input_schema, call.arguments); !problem.empty()) {
    return finish(call, plain_result("invalid arguments: " + problem, true));
  }
  return call;
}

Reply Protocol::finish(const ToolCall& call, const ToolOutcome& outcome) const {
  if (const auto* fault = std::get_if<RpcFault>(&outcome)) return refuse(call.id, call.era, *fault);
  Json result = Json::object();
  if (const auto* needed = std::get_if<InputRequired>(&outcome)) {
    if (call.era == Era::session) {
      return refuse(call.id, call.era,
                    {RpcCode::internal_error, "this tool needs a newer client", {}});
    }
    result.set("resultType", "input_required");
    if (!needed->requests.is_null()) result.set("inputRequests", needed->requests);
    if (!needed->state.empty()) result.set("requestState", needed->state);
    return answer(call.id, call.era, std::move(result));
  }
  const auto& done = std::get<ToolResult>(outcome);
  result.set("content", done.content);
  if (!done.structured.is_null()) result.set("structuredContent", done.structured);
  result.set("isError", done.is_error);
  return answer(call.id, call.era, std::move(result));
}

Reply Protocol::answer(const Json& id, Era era, Json result) const {
  if (era == Era::stateless) {
    if (!has(result, "resultType")) result.set("resultType", "complete");
    Json meta = Json::object();
    meta.set(std::string{server_key}, server_info());
    result.set("_meta", std::move(meta));
  }
  return {result_text(id, result), 200};
}

Json Protocol::server_info() const {
  return {{"name", "stile"}, {"title", "Stile"}, {"version", version_}};
}

Reply Protocol::refuse(const BadMessage& bad) { return {fault_text(bad.id, bad.fault), 400}; }

Reply Protocol::refuse(const Json& id, Era era, const RpcFault& fault) {
  return {fault_text(id, fault), status_of(era, fault.code)};
}

std::string Protocol::progress_text(const ToolCall& call, double done, double total,
                                    const std::string& message) {
  Json params{{"progressToken", call.progress_token}, {"progress", done}};
  if (total > 0) params.set("total", total);
  if (!message.empty()) params.set("message", message);
  return notification_text("notifications/progress", params);
}

}  // namespace stile::mcp
