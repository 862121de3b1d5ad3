// params: messages, tasks and filters.
#include "a2a/params.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "a2a/members.h"
#include "base/ascii.h"

namespace stile::a2a {
namespace {

using config::Node;

constexpr std::size_t max_id_bytes = 128;
constexpr std::int64_t max_page_size = 100;

Fault wrong(std::string_view what) { return {Problem::invalid_params, std::string{what}}; }

// Text parts, one per line.
Outcome<std::string> read_parts(const Node& message) {
  const auto* parts = member_as<Node::Array>(message, "parts");
  if (parts == nullptr || parts->empty())
    return wrong("message.parts: at least one part is needed");
  std::string text;
  for (const auto& part : *parts) {
    const auto* words = member_as<std::string>(part, "text");
    const auto type = text_of(part, "mediaType");
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
  const auto* settings = member(params, "configuration");
  if (settings == nullptr) return {};
  if (settings->as<Node::Table>() == nullptr) return wrong("configuration: expected an object");
  for (const auto* key : {"taskPushNotificationConfig", "pushNotificationConfig"}) {
    if (member(*settings, key) != nullptr) return refusal_of(Problem::push_not_supported);
  }
  const auto* length = member(*settings, "historyLength");
  if (length != nullptr && !number_of(*settings, "historyLength")) {
    return wrong("configuration.historyLength: expected a number from 0");
  }
  if (const auto* now = member_as<bool>(*settings, "returnImmediately")) call.is_immediate = *now;
  const auto* waits = member_as<bool>(*settings, "blocking");  // of 0.3
  if (waits != nullptr && call.dialect == Dialect::v03) call.is_immediate = !*waits;
  return {};
}

Outcome<void> read_message(const Node& params, Call& call) {
  const auto* message = member(params, "message");
  if (message == nullptr) return wrong("message: it is missing");
  if (call.dialect != Dialect::plain) {
    if (text_of(*message, "messageId").empty()) return wrong("message.messageId: it is missing");
    const auto role = text_of(*message, "role");
    if (role != (call.dialect == Dialect::v1 ? "ROLE_USER" : "user")) {
      return wrong("message.role: only messages of a user are accepted");
    }
  }
  auto text = read_parts(*message);
  if (!text) return text.error();
  call.text = std::move(*text);
  call.context = text_of(*message, "contextId");
  // A route may name the task already.
  if (call.task.empty()) call.task = text_of(*message, "taskId");
  if (!call.task.empty() && !is_task_id(call.task)) {
    return Fault{Problem::task_not_found, "There is no task of this id"};
  }
  return read_configuration(params, call);
}

Outcome<void> read_task(const Node& params, Call& call) {
  if (call.task.empty()) call.task = text_of(params, "id");
  if (call.task.empty()) return wrong("id: it is missing");
  if (!is_task_id(call.task)) return Fault{Problem::task_not_found, "There is no task of this id"};
  if (member(params, "historyLength") != nullptr && !number_of(params, "historyLength")) {
    return wrong("historyLength: expected a number from 0");
  }
  return {};
}

Outcome<void> read_filter(const Node& params, Call& call) {
  auto& filter = call.filter;
  filter.context = text_of(params, "contextId");
  filter.page_token = text_of(params, "pageToken");
  if (member(params, "pageSize") != nullptr) {
    const auto size = number_of(params, "pageSize");
    if (!size || *size < 1 || *size > max_page_size) return wrong("pageSize: expected 1 to 100");
    filter.page_size = static_cast<std::size_t>(*size);
  }
  if (member(params, "historyLength") != nullptr && !number_of(params, "historyLength")) {
    return wrong("historyLength: expected a number from 0");
  }
  if (const auto* wants = member_as<bool>(params, "includeArtifacts")) filter.has_output = *wants;
  if (const auto after = text_of(params, "statusTimestampAfter"); !after.empty()) {
    filter.after = parse_time(after);
    if (!filter.after) return wrong("statusTimestampAfter: expected a time of ISO 8601");
  }
  const auto state = text_of(params, "status");
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
  if (std::find(never.begin(), never.end(), state) == never.end()) {
    return wrong("status: there is no such state");
  }
  filter.after = std::numeric_limits<UnixMicros>::max();  // no task here is ever in that state
  return {};
}

}  // namespace

bool is_task_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_id_bytes &&
         std::all_of(text.begin(), text.end(), [](char byte) {
           const char lower = to_lower(byte);
           return is_digit(byte) || (lower >= 'a' && lower <= 'z') || byte == '-' || byte == '_' ||
                  byte == '.';
         });
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
      call.path = text_of(params, "path");
      call.offset = static_cast<std::uint64_t>(number_of(params, "offset").value_or(0));
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
