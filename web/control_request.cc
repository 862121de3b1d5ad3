// ControlRequest: parsed and written again by the JSON reader that the daemon uses too.
#include "web/control_request.h"

#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"

namespace stile::web {

Result<config::Node> object_in(std::string_view body) {
  auto parsed = config::json_or_null(body);
  if (parsed.as<config::Node::Table>() == nullptr) return Error{"the body is not one JSON object"};
  return parsed;
}

Result<std::string> control_line(const Route& route, std::string_view body) {
  const auto parsed = object_in(body.empty() ? "{}" : body);
  if (!parsed) return parsed.error();
  std::string line;
  {
    JsonObject object{line};
    object.add("action", route.action);
    if (!route.field.empty()) object.add(route.field, route.name);
    for (const auto& member : *parsed->as<config::Node::Table>()) {
      if (member.key == "action" || member.key == "agent" || member.key == route.field) {
        return Error{"the body may not name " + in_quotes(member.key)};
      }
      object.key(member.key) += config::json_text(member.value);
    }
  }
  return text_result(std::move(line));
}

std::string worker_line(std::string_view action, std::string_view worker) {
  std::string line;
  JsonObject{line}.add("action", action).add("task_id", worker);
  return line;
}

Result<std::string> text_member(std::string_view body, std::string_view name) {
  const auto parsed = object_in(body);
  if (!parsed) return parsed.error();
  const auto* text = parsed->get<std::string>(name);
  if (text == nullptr) return Error{"the body has no text " + in_quotes(name)};
  return text_result(*text);
}

}  // namespace stile::web
