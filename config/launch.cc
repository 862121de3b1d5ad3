// launch: what a card says to a launcher.
#include "config/launch.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/quoted.h"
#include "config/api_providers.h"
#include "config/fields.h"
#include "config/json_loader.h"
#include "config/list_values.h"
#include "config/settings_reader.h"

namespace stile::config {
namespace {

using Limits = ResourceLimits;

constexpr std::array<LimitKey, 6> all_limit_keys{{
    {"memory_mb", &Limits::memory_mb, 4, 1 << 24},
    {"cpu_percent", &Limits::cpu_percent, 1, 100'000},
    {"cpu_shares", &Limits::cpu_shares, 2, 262'144},
    {"max_processes", &Limits::max_processes, 1, 1 << 22},
    {"max_open_files", &Limits::max_open_files, 8, 1 << 20},
    {"disk_mb", &Limits::disk_mb, 1, 1 << 30},
}};

struct TagElement : TextElement {
  static constexpr std::string_view list_type = "list of tags";
  static constexpr bool may_repeat = true;
  static std::optional<Value> read(const Node& node, const Reader& reader) {
    return Text::read(node, reader);
  }
};

// An argument or the value of a variable: a script has newlines.
std::optional<std::string> read_word(const Node& node, const Reader& reader) {
  const auto* text = node.as<std::string>();
  if (text == nullptr) return reader.wrong_type(node, "a string");
  if (text->find('\0') != std::string::npos) return reader.error(node, "contains a NUL");
  return *text;
}

constexpr std::array launch_fields{
    field<&LaunchSettings::workspace, Path::read>("workspace"),
    field<&LaunchSettings::command, read_texts>("command"),
    field<&LaunchSettings::environment, read_variables>("environment"),
    field<&LaunchSettings::api_provider, Text::read>("api_provider"),
    field<&LaunchSettings::api_key_file, Path::read>("api_key_file"),
    field<&LaunchSettings::read, List<PathElement>::read>("read"),
    field<&LaunchSettings::write, List<PathElement>::read>("write"),
    field<&LaunchSettings::tags, List<TagElement>::read>("tags"),
    field<&LaunchSettings::limits, read_limits>("resource_limits"),
};

}  // namespace

std::span<const LimitKey> limit_keys() noexcept { return all_limit_keys; }

std::optional<std::vector<std::string>> read_texts(const Node& node, const Reader& reader) {
  const auto* elements = node.as<Node::Array>();
  if (elements == nullptr) return reader.wrong_type(node, "a list");
  std::vector<std::string> texts;
  for (const auto& element : *elements) {
    auto text = read_word(element, reader);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::optional<std::vector<Variable>> read_variables(const Node& node, const Reader& reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table of variables");
  std::vector<Variable> variables;
  for (const auto& member : *table) {
    if (!is_variable_name(member.key)) {
      return reader.error(member.value, printable(member.key) + " is not a name of a variable");
    }
    auto value = read_word(member.value, reader);
    if (!value) return std::nullopt;
    variables.push_back({member.key, std::move(*value)});
  }
  return variables;
}

std::optional<ResourceLimits> read_limits(const Node& node, const Reader& reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table of limits");
  ResourceLimits limits;
  Reader inner = reader;
  for (const auto& member : *table) {
    inner.key = reader.key + '.' + printable(member.key.substr(0, 64));
    const auto* const found =
        std::find_if(all_limit_keys.begin(), all_limit_keys.end(),
                     [&](const LimitKey& key) { return key.name == member.key; });
    if (found == all_limit_keys.end()) {
      std::vector<std::string_view> known;
      for (const auto& key : all_limit_keys) known.push_back(key.name);
      unknown_key(member, inner, known);
      return std::nullopt;
    }
    const auto value = read_integer(member.value, inner, found->least, found->most);
    if (!value) return std::nullopt;
    limits.*found->member = static_cast<std::uint64_t>(*value);
  }
  return limits;
}

bool read_launch_key(const Member& member, const Reader& reader, LaunchSettings& launch) {
  return read_field(launch_fields, member, reader, launch);
}

Checked<LaunchSettings> parse_launch(std::string_view text, const CardOrigin& origin) {
  const auto document = parse_json(text, origin.name);
  if (!document) return document.error();
  LaunchSettings launch;
  Diagnostics problems;
  if (const auto* table = document->as<Node::Table>()) {
    Reader reader{problems, origin.name, origin.directory, {}};
    for (const auto& member : *table) {
      reader.key = printable(member.key.substr(0, 64));
      static_cast<void>(read_launch_key(member, reader, launch));
    }
    if (!launch.api_key_file.empty() && provider_named(launch.api_provider) == nullptr) {
      reader.key = "api_key_file";
      reader.error(*document, "it is not known in which variable the key belongs",
                   "api_provider: anthropic, openai, gemini or custom");
    }
  }
  if (problems.has_errors()) return problems;
  return launch;
}

}  // namespace stile::config
