// A server for the official suite of the protocol: the transport and protocol of `stile mcp`, with
// the tools that the suite calls. Prints its URL. Usage: mcp_conformance_server TOKEN.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "base/random.h"
#include "base/sha256.h"
#include "mcp/http.h"
#include "mcp/protocol.h"
#include "mcp/tool.h"

using namespace stile;
using namespace stile::mcp;

namespace {

// One pixel, and a sound without a sample.
constexpr const char* png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg"
    "==";
constexpr const char* wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
constexpr const char* no_arguments = R"({"type":"object","properties":{}})";
constexpr const char* rich_schema =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"address","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false})";

Json text_block(const char* text) { return Json{{"type", "text"}, {"text", text}}; }

Json resource_block() {
  return Json{{"type", "resource"},
              {"resource", Json{{"uri", "test://embedded-resource"},
                                {"mimeType", "text/plain"},
                                {"text", "This is an embedded resource content."}}}};
}

ToolResult result_of(std::initializer_list<Json> blocks) {
  Json content = Json::list();
  for (const Json& block : blocks) content.add(block);
  return {std::move(content), {}, false};
}

Json form(const char* message, const char* field, const char* type) {
  return Json{{"method", "elicitation/create"},
              {"params", Json{{"message", message},
                              {"requestedSchema",
                               Json{{"type", "object"},
                                    {"properties", Json{{field, Json{{"type", type}}}}},
                                    {"required", Json(std::vector<std::string>{field})}}}}}};
}

Json sampling() {
  Json messages = Json::list();
  messages.add(Json{{"role", "user"}, {"content", text_block("What is the capital of France?")}});
  return Json{{"method", "sampling/createMessage"},
              {"params", Json{{"messages", std::move(messages)}, {"maxTokens", 100}}}};
}

Json roots() { return Json{{"method", "roots/list"}, {"params", Json::object()}}; }

// States that clients carry from one round to the next, and cannot change.
class Seal {
 public:
  [[nodiscard]] std::string close(const std::string& state) const {
    return state + '.' + mac(state);
  }
  [[nodiscard]] bool opens(const std::string& sealed, const std::string& state) const {
    return sealed == close(state);
  }

 private:
  [[nodiscard]] std::string mac(const std::string& state) const {
    return std::string{
        hash_text(Sha256{}.hash(key_ + std::string{hash_text(Sha256{}.hash(key_ + state))}))};
  }
  std::string key_ = random_hex(32);
};

class SuiteTools final : public ToolBox {
 public:
  SuiteTools() {
    add("test_simple_text", [](const ToolCall&, CallContext&) {
      return plain_result("This is a simple text response for testing.");
    });
    add("test_image_content", [](const ToolCall&, CallContext&) {
      return result_of({Json{{"type", "image"}, {"data", png}, {"mimeType", "image/png"}}});
    });
    add("test_audio_content", [](const ToolCall&, CallContext&) {
      return result_of({Json{{"type", "audio"}, {"data", wav}, {"mimeType", "audio/wav"}}});
    });
    add("test_embedded_resource",
        [](const ToolCall&, CallContext&) { return result_of({resource_block()}); });
    add("test_multiple_content_types", [](const ToolCall&, CallContext&) {
      return result_of({text_block("Multiple content types test:"),
                        Json{{"type", "image"}, {"data", png}, {"mimeType", "image/png"}},
                        resource_block()});
    });
    add("test_error_handling", [](const ToolCall&, CallContext&) {
      return plain_result("This tool intentionally returns an error for testing", true);
    });
    add("test_logging_tool",
        [](const ToolCall&, CallContext&) { return plain_result("nothing was logged"); });
    add("test_tool_with_progress", [](const ToolCall&, CallContext& context) {
      for (const double done : {0.0, 50.0, 100.0}) {
        context.report(done, 100, "");
        context.wait(std::chrono::milliseconds{50});
      }
      return plain_result("done");
    });
    add("test_missing_capability", [](const ToolCall& call, CallContext&) -> ToolOutcome {
      if (has(call.client_capabilities, "sampling")) return plain_result("sampling is there");
      return RpcFault{RpcCode::missing_capability, "this tool needs sampling",
                      Json{{"requiredCapabilities", Json{{"sampling", Json::object()}}}}};
    });
    add("json_schema_2020_12_tool",
        [](const ToolCall&, CallContext&) { return plain_result("fits"); });
    tools_.back().input_schema = Json::parse(rich_schema);
    add_rounds();
  }

  [[nodiscard]] const std::vector<Tool>& tools() const override { return tools_; }
  [[nodiscard]] ToolOutcome call(const ToolCall& call, CallContext& context) override {
    return handlers_.at(call.tool)(call, context);
  }

 private:
  using Handler = std::function<ToolOutcome(const ToolCall&, CallContext&)>;

  void add(const std::string& name, Handler handler) {
    tools_.push_back(
        {name, name, "for the suite", false, false, false, false, Json::parse(no_arguments), {}});
    handlers_[name] = std::move(handler);
  }

  // Asks for these answers until all are there.
  void add_inputs(const std::string& name, const Json& requests, const std::string& state) {
    add(name, [this, requests, state](const ToolCall& call, CallContext&) -> ToolOutcome {
      if (!call.request_state.empty() && !seal_.opens(call.request_state, state)) {
        return RpcFault{RpcCode::invalid_params, "requestState was changed", {}};
      }
      for (const auto& [key, request] : requests.members()) {
        if (!call.input_responses.find(key)) {
          return InputRequired{requests, state.empty() ? "" : seal_.close(state)};
        }
      }
      return plain_result("state-ok");
    });
  }

  void add_rounds() {
    add_inputs("test_input_required_result_elicitation",
               Json{{"user_name", form("What is your name?", "name", "string")}}, "");
    add_inputs("test_streaming_elicitation",
               Json{{"user_name", form("What is your name?", "name", "string")}}, "");
    add_inputs("test_input_required_result_sampling", Json{{"capital_question", sampling()}}, "");
    add_inputs("test_input_required_result_list_roots", Json{{"client_roots", roots()}}, "");
    add_inputs("test_input_required_result_request_state",
               Json{{"confirm", form("Please confirm", "ok", "boolean")}}, "confirm");
    add_inputs("test_input_required_result_tampered_state",
               Json{{"confirm", form("Please confirm", "ok", "boolean")}}, "tampered");
    add_inputs("test_input_required_result_multiple_inputs",
               Json{{"user_name", form("What is your name?", "name", "string")},
                    {"greeting", sampling()},
                    {"client_roots", roots()}},
               "multiple");
    add("test_input_required_result_multi_round",
        [this](const ToolCall& call, CallContext&) -> ToolOutcome {
          const bool knows_name = seal_.opens(call.request_state, "round 1");
          if (seal_.opens(call.request_state, "round 2")) return plain_result("done");
          return InputRequired{
              knows_name
                  ? Json{{"step2", form("Step 2: What is your favorite color?", "color", "string")}}
                  : Json{{"step1", form("Step 1: What is your name?", "name", "string")}},
              seal_.close(knows_name ? "round 2" : "round 1")};
        });
    add("test_input_required_result_capabilities",
        [](const ToolCall& call, CallContext&) -> ToolOutcome {
          Json requests = Json::object();
          if (has(call.client_capabilities, "sampling")) requests.set("question", sampling());
          if (has(call.client_capabilities, "elicitation")) {
            requests.set("name", form("What is your name?", "name", "string"));
          }
          return InputRequired{std::move(requests), ""};
        });
  }

  Seal seal_;
  std::vector<Tool> tools_;
  std::map<std::string, Handler> handlers_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  SuiteTools tools;
  const Protocol protocol{"0", "for the suite", tools};
  const auto served = serve_http(protocol, tools, {"127.0.0.1:0", words[1]},
                                 [](const std::string& url) { std::cout << url << std::endl; });
  if (!served) std::cerr << served.error().message << '\n';
  return served ? 0 : 1;
}
