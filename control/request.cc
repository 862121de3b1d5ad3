// ControlRequest: one reader per field, and the checks that a table of actions asks for.
#include "control/request.h"

#include <utility>

#include "base/contains.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "config/values.h"

namespace stile::control {
namespace {

using config::Node, config::Reader;
using Names = Action::Names;

constexpr const char* too_many_regexes = "more than 100 regular expressions; put them in a file";

std::optional<std::vector<acl::Pattern>> read_hosts(const Node& node, const Reader& reader) {
  const auto* list = node.as<Node::Array>();
  if (list == nullptr) return reader.wrong_type(node, "a list of patterns");
  if (list->empty()) return reader.error(node, "the list is empty");
  if (list->size() > ControlRequest::max_hosts)
    return reader.error(node, "more than 1000 patterns");
  std::vector<acl::Pattern> patterns;
  std::size_t regexes = 0;
  for (const auto& element : *list) {
    const auto* text = element.as<std::string>();
    if (text == nullptr) return reader.wrong_type(element, "a pattern as a string");
    if (text->starts_with('~') && ++regexes > ControlRequest::max_regexes) {
      return reader.error(element, too_many_regexes);
    }
    auto pattern = acl::Pattern::parse(*text);
    if (!pattern) return reader.error(element, pattern.error().message);
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

std::optional<std::string> read_text(const Node& node, const Reader& reader, std::size_t most) {
  auto value = config::Text::read(node, reader);
  if (value && value->empty()) return reader.error(node, "is empty");
  if (value && value->size() > most) {
    return reader.error(node, "longer than " + std::to_string(most) + " bytes");
  }
  return value;
}

std::optional<std::string> read_card(const Node& node, const Reader& reader) {
  if (node.as<Node::Table>() == nullptr) return reader.wrong_type(node, "an agent card (object)");
  std::string text = config::json_text(node);
  std::size_t regexes = 0;
  for (auto at = text.find("\"~"); at != std::string::npos; at = text.find("\"~", at + 1)) {
    if (++regexes > ControlRequest::max_regexes) return reader.error(node, too_many_regexes);
  }
  return text;
}

std::optional<acl::Address> read_source(const Node& node, const Reader& reader) {
  const auto value = config::Text::read(node, reader);
  if (!value) return std::nullopt;
  const auto address = acl::Address::parse(*value);
  if (!address) return reader.error(node, in_quotes(*value) + " is not an address");
  return address->unmapped();
}

// A port may be malformed, as in an agent's request: then the explanation says so.
std::optional<std::string> read_port(const Node& node, const Reader& reader) {
  if (const auto* number = node.as<std::int64_t>()) return std::to_string(*number);
  return read_text(node, reader, 64);
}

std::optional<std::string> read_verdict(const Node& node, const Reader& reader) {
  auto value = config::Text::read(node, reader);
  if (value && *value != "allow" && *value != "deny" && *value != "would-deny") {
    return reader.error(node, "expected \"allow\" or \"deny\"; tail also takes \"would-deny\"");
  }
  return value;
}

std::optional<std::uint64_t> read_count(const Node& node, const Reader& reader) {
  const auto value = config::read_integer(node, reader, 1, std::int64_t{1} << 53);
  return value ? std::optional{static_cast<std::uint64_t>(*value)} : std::nullopt;
}

std::optional<std::uint64_t> read_bytes(const Node& node, const Reader& reader) {
  const auto value = config::Size::read(node, reader);
  if (value && *value == 0) return reader.error(node, "0 bytes would grant nothing");
  return value;
}

void read_field(std::string_view name, const Node& node, const Reader& reader,
                ControlRequest& request) {
  constexpr std::size_t max_url = 8192;
  const auto set = [](auto& target, auto value) {
    if (value) target = std::move(*value);
  };
  if (name == "agent") set(request.agent, config::AgentId::read(node, reader));
  if (name == "card") set(request.card, read_card(node, reader));
  if (name == "hosts") set(request.hosts, read_hosts(node, reader));
  if (name == "ttl_seconds") {
    request.ttl_seconds = config::read_integer(node, reader, 1, ControlRequest::max_ttl_seconds);
  }
  if (name == "max_requests") request.max_requests = read_count(node, reader);
  if (name == "bytes_up") request.bytes_up = read_bytes(node, reader);
  if (name == "reason")
    set(request.reason, read_text(node, reader, ControlRequest::max_reason_bytes));
  if (name == "grant") set(request.grant, read_text(node, reader, 64));
  if (name == "mode") set(request.mode, config::ModeWord::read(node, reader));
  if (name == "source") request.source = read_source(node, reader);
  if (name == "url") set(request.url, read_text(node, reader, max_url));
  if (name == "host") set(request.host, read_text(node, reader, max_url));
  if (name == "port") set(request.port, read_port(node, reader));
  if (name == "method") set(request.method, read_text(node, reader, 64));
  if (name == "resolve") set(request.resolve, config::Boolean::read(node, reader));
  if (name == "rotated") set(request.rotated, config::Boolean::read(node, reader));
  if (name == "on_disk") set(request.on_disk, config::Boolean::read(node, reader));
  if (name == "ask") set(request.ask, read_text(node, reader, 64));
  if (name == "follow") set(request.follow, config::Boolean::read(node, reader));
  if (name == "connected") request.connected = config::Boolean::read(node, reader);
  if (name == "memory") set(request.memory, config::Boolean::read(node, reader));
  if (name == "try") set(request.is_trial, config::Boolean::read(node, reader));
  if (name == "holds") set(request.holds, config::Boolean::read(node, reader));
  if (name == "verdict") set(request.verdict, read_verdict(node, reader));
}

Failure bad(std::string message) { return {ErrorCode::bad_request, std::move(message)}; }

std::string meant(std::string_view word, const Names& known) {
  const auto near = nearest(word, known);
  return near.empty() ? "" : "; did you mean " + in_quotes(near) + "?";
}

// The problems without a file name: a request has only one line.
std::string sentence(const config::Diagnostics& problems) {
  std::string text;
  for (const auto& item : problems.items()) {
    if (!text.empty()) text += "; ";
    if (!item.key.empty()) text += item.key + ": ";
    text += item.problem;
    if (!item.hint.empty()) text += " (" + item.hint + ")";
  }
  return text;
}

Outcome<const Action*> find_action(const Node& request, const Actions& actions) {
  const auto* action = request.find("action");
  if (action == nullptr) return bad("\"action\" is missing");
  const auto* name = action->as<std::string>();
  if (name == nullptr) return bad("action: expected a string");
  Names known;
  for (const auto& row : actions) {
    if (row.name == *name) return &row;
    known.push_back(row.name);
  }
  return Failure{ErrorCode::unknown_action,
                 "there is no action " + in_quotes(name->substr(0, 64)) + meant(*name, known)};
}

Outcome<void> check_fields(const Action& action, const Node& request) {
  const auto has = [&](std::string_view name) { return request.find(name) != nullptr; };
  for (const auto name : action.required) {
    if (!has(name)) {
      return bad(std::string{action.name} + " needs " + in_quotes(name));
    }
  }
  const auto& either = action.one_of;
  if (!either.empty() && has(either[0]) == has(either[1])) {
    return bad(std::string{action.name} + " needs either " + in_quotes(either[0]) + " or " +
               in_quotes(either[1]));
  }
  return boost::system::in_place_value;
}

}  // namespace

Outcome<ControlRequest> parse_request(std::string_view line, const Actions& actions) {
  if (line.size() > max_request_bytes) {
    return Failure{ErrorCode::too_large, "a request has at most 65536 bytes"};
  }
  const auto document = config::parse_json(line, "");
  if (!document) return bad("not a request: " + sentence(document.error()));
  const auto* table = document->as<Node::Table>();
  if (table == nullptr) return bad("a request is one JSON object");
  const auto found = find_action(*document, actions);
  if (!found) return found.error();
  const Action& row = **found;
  Names known{"action"};
  for (const auto* names : {&row.required, &row.optional, &row.one_of}) {
    known.insert(known.end(), names->begin(), names->end());
  }
  ControlRequest request;
  request.action = &row;
  config::Diagnostics problems;
  Reader reader{problems, {}, {}, {}};
  for (const auto& member : *table) {
    if (!contains(known, member.key)) {
      return bad(std::string{row.name} + " has no field " + in_quotes(member.key.substr(0, 64)) +
                 meant(member.key, known));
    }
    reader.key = member.key;
    read_field(member.key, member.value, reader, request);
  }
  if (problems.has_errors()) return bad(sentence(problems));
  if (const auto checked = check_fields(row, *document); !checked) return checked.error();
  if (row.check != nullptr) {
    if (const auto checked = row.check(request); !checked) return checked.error();
  }
  return request;
}

}  // namespace stile::control
