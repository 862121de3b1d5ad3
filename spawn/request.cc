// SpawnRequest: one request to stile-spawner.
#include "spawn/request.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/quoted.h"
#include "config/fields.h"
#include "config/json_loader.h"
#include "config/launch.h"
#include "spawn/texts.h"
#include "worker/request.h"

namespace stile::spawn {
namespace {

using config::Member;
using config::Node;
using config::Reader;

constexpr std::size_t most_tags = 16;
constexpr std::size_t max_tag_length = 64;
constexpr std::size_t max_path_length = 4095;

struct Known {
  SpawnAction action;
  std::string_view name;
  std::string_view keys;  // each with a blank on both sides
};
constexpr std::array<Known, 10> known_actions{{
    {SpawnAction::spawn, "spawn", " task_id workspace template tags card "},
    {SpawnAction::terminate, "terminate", " task_id token "},
    {SpawnAction::list, "list", " "},
    {SpawnAction::status, "status", " task_id token "},
    {SpawnAction::validate_token, "validate_token", " task_id token "},
    {SpawnAction::run, "run", " task_id message token "},
    {SpawnAction::cancel, "cancel", " task_id run token "},
    {SpawnAction::output, "output", " task_id run cursor wait_seconds token "},
    {SpawnAction::files, "files", " task_id path run token "},
    {SpawnAction::read_file, "read_file", " task_id path offset token "},
}};

bool has_key(const Known& known, std::string_view key) {
  return key.find(' ') == std::string_view::npos && !key.empty() &&
         known.keys.find(' ' + std::string{key} + ' ') != std::string_view::npos;
}

bool is_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= max_tag_length &&
         std::all_of(tag.begin(), tag.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::optional<std::vector<std::string>> read_tags(const Node& node, const Reader& reader) {
  auto tags = config::read_texts(node, reader);
  if (tags && (tags->size() > most_tags || !std::all_of(tags->begin(), tags->end(), is_tag))) {
    return reader.error(node, "at most 16 words of 1 to 64 printable characters");
  }
  return tags;
}

std::optional<std::string> read_path(const Node& node, const Reader& reader) {
  auto path = config::Text::read(node, reader);
  if (path && path->size() > max_path_length)
    return reader.error(node, "longer than a path can be");
  return path;
}

std::optional<Node> read_card(const Node& node, const Reader& /*reader*/) { return node; }

using config::field, config::read_number;
constexpr std::array request_fields{
    field<&SpawnRequest::task_id, config::Text::read>("task_id"),
    field<&SpawnRequest::workspace, read_path>("workspace"),
    field<&SpawnRequest::path, read_path>("path"),
    field<&SpawnRequest::template_name, config::Text::read>("template"),
    field<&SpawnRequest::token, config::Text::read>("token"),
    field<&SpawnRequest::tags, read_tags>("tags"),
    field<&SpawnRequest::card, read_card>("card"),
    field<&SpawnRequest::run, read_number<INT64_MAX>>("run"),
    field<&SpawnRequest::cursor, read_number<INT64_MAX>>("cursor"),
    field<&SpawnRequest::offset, read_number<INT64_MAX>>("offset"),
    field<&SpawnRequest::wait_seconds, read_number<worker::longest_wait_seconds>>("wait_seconds"),
    field<&SpawnRequest::message, config::read_any_text>("message"),
};

}  // namespace

std::string_view text(SpawnAction action) noexcept {
  for (const auto& known : known_actions) {
    if (known.action == action) return known.name;
  }
  return "list";
}

std::optional<std::size_t> request_end(std::string_view bytes) noexcept {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\n' && (depth == 0 || is_in_string)) return i + 1;  // no string has a raw newline
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

Result<SpawnRequest> parse_request(std::string_view bytes) {
  if (bytes.size() > max_request_bytes) return Error{"Request larger than 64 KiB"};
  const auto document = config::parse_json(bytes, "request");
  if (!document) return Error{"Not JSON: " + first_problem(document.error())};
  const auto* table = document->as<config::Node::Table>();
  if (table == nullptr) return Error{"A request is one JSON object"};
  const auto* name = document->get<std::string>("action");
  const auto* const known =
      std::find_if(known_actions.begin(), known_actions.end(),
                   [&](const Known& one) { return name != nullptr && one.name == *name; });
  if (known == known_actions.end()) {
    return Error{"Unknown action: " + in_quotes(name == nullptr ? "" : *name)};
  }
  SpawnRequest request;
  request.action = known->action;
  config::Diagnostics problems;
  Reader reader{problems, "request", std::nullopt, {}};
  for (const auto& member : *table) {
    if (member.key == "action") continue;
    if (!has_key(*known, member.key)) {
      return Error{"Unknown key for " + *name + ": " + in_quotes(member.key)};
    }
    reader.key = member.key;
    static_cast<void>(config::read_field(request_fields, member, reader, request));
  }
  if (problems.has_errors()) return Error{first_problem(problems)};
  if (has_key(*known, "task_id") && !is_plain_id(request.task_id)) {
    return Error{
        "Invalid task_id: 1 to 64 characters of a-z, 0-9 and -, not beginning or ending with -"};
  }
  return request;
}

}  // namespace stile::spawn
