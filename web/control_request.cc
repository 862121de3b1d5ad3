// ControlRequest: parsed and written again by the JSON reader that the daemon uses too.
#include "web/control_request.h"

#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"

namespace stile::web {
namespace {

Result<config::Node> parse_object(std::string_view body) {
  auto parsed = config::parse_json(body, "");
  if (!parsed || parsed->as<config::Node::Table>() == nullptr) {
    return Error{"the body is not one JSON object"};
  }
  return std::move(*parsed);
}

}  // namespace

Result<std::string> control_line(const Route& route, std::string_view body) {
  const auto parsed = parse_object(body.empty() ? "{}" : body);
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

Result<std::string> text_member(std::string_view body, std::string_view name) {
  const auto parsed = parse_object(body);
  if (!parsed) return parsed.error();
  for (const auto& member : *parsed->as<config::Node::Table>()) {
    if (member.key != name) continue;
    if (const auto* text = member.value.as<std::string>()) return text_result(*text);
  }
  return Error{"the body has no text " + in_quotes(name)};
}

}  // namespace stile::web
