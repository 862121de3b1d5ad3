// TaskRequest: what stile-spawner asks a worker's keeper.
#include "worker/request.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "config/fields.h"
#include "config/json_loader.h"

namespace stile::worker {
namespace {

constexpr std::array<std::string_view, 5> names{"run", "cancel", "output", "runs", "files"};

std::optional<TaskAction> read_action(const config::Node& node, const config::Reader& reader) {
  const auto text = config::Text::read(node, reader);
  const auto* const found = std::find(names.begin(), names.end(), text.value_or(""));
  if (found == names.end()) return reader.error(node, "unknown action");
  return static_cast<TaskAction>(found - names.begin());
}

using config::field, config::read_number;
constexpr std::array request_fields{
    field<&TaskRequest::action, read_action>("action"),
    // It becomes the input of a program.
    field<&TaskRequest::message, config::read_any_text>("message"),
    field<&TaskRequest::run, read_number<INT64_MAX>>("run"),
    field<&TaskRequest::cursor, read_number<INT64_MAX>>("cursor"),
    field<&TaskRequest::wait_seconds, read_number<longest_wait_seconds>>("wait_seconds"),
};

}  // namespace

std::string request_text(const TaskRequest& request) {
  std::string out;
  {
    JsonObject object{out};
    object.add("action", names[static_cast<std::size_t>(request.action)]);
    if (!request.message.empty()) object.add("message", request.message);
    if (request.run) object.add("run", *request.run);
    if (request.cursor != 0) object.add("cursor", request.cursor);
    if (request.wait_seconds != 0) object.add("wait_seconds", request.wait_seconds);
  }
  return out;
}

Result<TaskRequest> parse_request(std::string_view text) {
  const auto document = config::parse_json(text, "request");
  if (!document) return Error{document.error().text()};
  config::Diagnostics problems;
  TaskRequest request;
  config::Reader reader{problems, "request", std::nullopt, {}};
  const auto* table = document->as<config::Node::Table>();
  if (table == nullptr) return Error{"a request is one JSON object"};
  for (const auto& member : *table) {
    reader.key = member.key.substr(0, 64);
    if (!config::read_field(request_fields, member, reader, request)) {
      reader.error(member.value, "unknown key");
    }
  }
  if (problems.has_errors()) return Error{problems.text()};
  return request;
}

}  // namespace stile::worker
