// params: messages, tasks and filters.
#include "a2a/params.h"

#include <array>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/contains.h"

namespace stile::a2a {
namespace {

using config::Node;

constexpr std::size_t max_id_bytes = 128;
constexpr std::int64_t max_page_size = 100;

Fault wrong(std::string_view what) { return {Problem::invalid_params, std::string{what}}; }

// Text parts, one per line.
Outcome<std::string> read_parts(const Node& message) {
  const auto* parts = message.get<Node::Array>("parts");
  if (parts == nullptr || parts->empty())
    return wrong("message.parts: at least one part is needed");
  std::string text;
  for (const auto& part : *parts) {
    const auto* words = part.get<std::string>("text");
    const auto type = part.text("mediaType");
    if (words == nullptr || (!type.empty() && !lower_case(type).starts_with("text/"))) {
      return Fault{Problem::content_type_not_supported, "Only parts with text are supported"};
    }
    if (!text.empty()) text += '\n';
    text += *words;
  }
  if (text.empty()) return wrong("message.parts: the text is empty");
  return Outcome<std::string>{boost::system::in_place_value, std::move(text)};
}

Outcome<void> read_configuration(const Node& params, Call& call) {
  const auto* settings = params.given("configuration");
  if (settings == nullptr) return {};
  if (settings->as<Node::Table>() == nullptr) return wrong("configuration: expected an object");
  for (const auto* key : {"taskPushNotificationConfig", "pushNotificationConfig"}) {
    if (settings->given(key) != nullptr) return refusal_of(Problem::push_not_supported);
  }
  const auto* length = settings->given("historyLength");
  if (length != nullptr && !settings->number("historyLength")) {
    return wrong("configuration.historyLength: expected a number from 0");
  }
  if (const auto* now = settings->get<bool>("returnImmediately")) call.is_immediate = *now;
  const auto* waits = settings->get<bool>("blocking");  // of 0.3
  if (waits != nullptr && call.dialect == Dialect::v03) call.is_immediate = !*waits;
  return {};
}

Outcome<void> read_message(const Node& params, Call& call) {
  const auto* message = params.given("message");
  if (message == nullptr) return wrong("message: it is missing");
  if (call.dialect != Dialect::plain) {
    if (message->text("messageId").empty()) return wrong("message.messageId: it is missing");
    const auto role = message->text("role");
    if (role != (call.dialect == Dialect::v1 ? "ROLE_USER" : "user")) {
      return wrong("message.role: only messages of a user are accepted");
    }
  }
  auto text = read_parts(*message);
  if (!text) return text.error();
  call.text = std::move(*text);
  call.context = message->text("contextId");
  // A route may name the task already.
  if (call.task.empty()) call.task = message->text("taskId");
  if (!call.task.empty() && !is_task_id(call.task)) {
    return Fault{Problem::task_not_found, "There is no task of this id"};
  }
  return read_configuration(params, call);
}

Outcome<void> read_task(const Node& params, Call& call) {
  if (call.task.empty()) call.task = params.text("id");
  if (call.task.empty()) return wrong("id: it is missing");
  if (!is_task_id(call.task)) return Fault{Problem::task_not_found, "There is no task of this id"};
  if (params.given("historyLength") != nullptr && !params.number("historyLength")) {
    return wrong("historyLength: expected a number from 0");
  }
  return {};
}

Outcome<void> read_filter(const Node& params, Call& call) {
  auto& filter = call.filter;
  filter.context = params.text("contextId");
  filter.page_token = params.text("pageToken");
  if (params.given("pageSize") != nullptr) {
    const auto size = params.number("pageSize");
    if (!size || *size < 1 || *size > max_page_size) return wrong("pageSize: expected 1 to 100");
    filter.page_size = static_cast<std::size_t>(*size);
  }
  if (params.given("historyLength") != nullptr && !params.number("historyLength")) {
    return wrong("historyLength: expected a number from 0");
  }
  if (const auto* wants = params.get<bool>("includeArtifacts")) filter.has_output = *wants;
  if (const auto after = params.text("statusTimestampAfter"); !after.empty()) {
    filter.after = parse_time(after);
    if (!filter.after) return wrong("statusTimestampAfter: expected a time of ISO 8601");
  }
  const auto state = params.text("status");
  if (state.empty() || state == "TASK_STATE_UNSPECIFIED") return {};
  constexpr std::array<std::pair<std::string_view, State>, 5> states{{
      {"TASK_STATE_WORKING", State::working},
      {"TASK_STATE_COMPLETED", State::completed},
      {"TASK_STATE_FAILED", State::failed},
      {"TASK_STATE_CANCELED", State::canceled},
      {"TASK_STATE_AUTH_REQUIRED", State::auth_required},
  }};
  for (const auto& [name, value] : states) {
    if (name == state) filter.state = value;
  }
  constexpr std::array<std::string_view, 3> never{"TASK_STATE_SUBMITTED", "TASK_STATE_REJECTED",
                                                  "TASK_STATE_INPUT_REQUIRED"};
  if (filter.state) return {};
  if (!contains(never, state)) {
    return wrong("status: there is no such state");
  }
  filter.after = std::numeric_limits<UnixMicros>::max();  // no task here is ever in that state
  return {};
}

}  // namespace

bool is_task_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_id_bytes && has_only(text, "-_.");
}

Fault refusal_of(Problem problem) {
  switch (problem) {
    case Problem::push_not_supported:
      return {problem, "This agent sends no push notifications; subscribe to the task"};
    case Problem::no_extended_card:
    case Problem::unsupported_operation:
      return {problem, "This agent has no extended card"};
    default:
      return {problem, "Not supported"};
  }
}

Outcome<Call> read_call(Call call, const Node& params) {
  Outcome<void> read{};
  switch (call.operation) {
    case Operation::send:
    case Operation::send_stream:
      read = read_message(params, call);
      break;
    case Operation::get:
    case Operation::cancel:
    case Operation::subscribe:
      read = read_task(params, call);
      break;
    case Operation::list:
      read = read_filter(params, call);
      break;
    case Operation::files:
    case Operation::read_file:
      call.path = params.text("path");
      call.offset = static_cast<std::uint64_t>(params.number("offset").value_or(0));
      if (call.operation == Operation::read_file && call.path.empty())
        read = wrong("path: it is missing");
      break;
    case Operation::follow_latest:
      break;
  }
  if (!read) return read.error();
  return call;
}

}  // namespace stile::a2a
