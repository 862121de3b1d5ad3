// TaskRequest: what stile-spawner asks a worker's keeper.
#include "worker/request.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/json.h"
#include "config/json_loader.h"
#include "config/values.h"

namespace stile::worker {
namespace {

constexpr std::array<std::string_view, 5> names{"run", "cancel", "output", "runs", "files"};

void read_member(const config::Member& member, const config::Reader& reader, TaskRequest& request) {
  const auto read_number = [&](std::int64_t most) {
    return config::read_integer(member.value, reader, 0, most);
  };
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  if (member.key == "action") {
    const auto text = config::Text::read(member.value, reader);
    const auto* const found = std::find(names.begin(), names.end(), text.value_or(""));
    if (found == names.end()) {
      reader.error(member.value, "unknown action");
    } else {
      request.action = static_cast<TaskAction>(found - names.begin());
    }
  } else if (member.key == "message") {
    // Any bytes: it becomes the input of a program.
    const auto* text = member.value.as<std::string>();
    if (text == nullptr) {
      reader.wrong_type(member.value, "a string");
    } else {
      request.message = *text;
    }
  } else if (member.key == "run") {
    if (const auto number = read_number(any)) request.run = static_cast<std::uint64_t>(*number);
  } else if (member.key == "cursor") {
    request.cursor = static_cast<std::uint64_t>(read_number(any).value_or(0));
  } else if (member.key == "wait_seconds") {
    request.wait_seconds =
        static_cast<std::uint32_t>(read_number(longest_wait_seconds).value_or(0));
  } else {
    reader.error(member.value, "unknown key");
  }
}

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
    read_member(member, reader, request);
  }
  if (problems.has_errors()) return Error{problems.text()};
  return request;
}

}  // namespace stile::worker
