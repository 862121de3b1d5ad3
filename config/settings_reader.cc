// Turns a parsed stile.toml into Settings.
#include "config/settings_reader.h"

#include <algorithm>

#include "base/contains.h"
#include "base/nearest.h"
#include "base/quoted.h"
#include "config/schema.h"

namespace stile::config {
namespace {

// "egress.ports"; an unknown name can contain any bytes.
std::string full_key(std::string_view section, std::string_view name) {
  return (section.empty() ? "" : std::string{section} + '.') + printable(name.substr(0, 64));
}

// The section that has a key of this name.
std::string_view section_with(std::string_view name) {
  for (const auto& key : global_keys()) {
    if (key.name == name) return key.section;
  }
  return {};
}

// A key in the wrong section, or one that only cards have.
std::string misplaced_hint(std::string_view name, std::string_view section) {
  if (const auto right = section_with(name); !right.empty() && right != section) {
    return "it belongs in [" + std::string{right} + ']';
  }
  for (const auto& key : card_keys()) {
    if (section != "agent" || key.name != name) continue;
    if (!key.same_as.empty()) return "here it is called " + std::string{key.same_as};
    return "only agent cards have it";
  }
  return {};
}

void complain(const Member& member, Reader reader, std::string_view section,
              const std::vector<std::string_view>& known) {
  const auto hint = misplaced_hint(member.key, section);
  if (hint.empty()) {
    unknown_key(member, reader, known);
  } else {
    reader.problems.error(reader.place(member.position), full_key(section, member.key),
                          "unknown key", hint);
  }
}

void read_section(std::string_view section, const Member& member, Reader reader,
                  Settings& settings) {
  const auto* table = member.value.as<Node::Table>();
  reader.key = section;
  if (table == nullptr) {
    reader.wrong_type(member.value, "a table, [" + std::string{section} + ']');
    return;
  }
  for (const auto& entry : *table) {
    const auto* found = find_key(section, entry.key);
    reader.key = full_key(section, entry.key);
    if (found == nullptr) {
      complain(entry, reader, section, key_names(section));
      continue;
    }
    settings.keys.push_back(
        {found->section, found->name, entry.position.line, entry.position.column});
    found->read(entry.value, reader, settings);
  }
}

AgentSettings read_agent(const Node& node, const Node::Table& table, Reader reader) {
  AgentSettings agent;
  agent.place = reader.place(node.position);
  std::vector<std::string_view> known;
  for (const auto& key : agent_keys()) known.push_back(key.name);
  for (const auto& entry : table) {
    reader.key = full_key("agent", entry.key);
    if (!read_agent_key(entry.key, entry, reader, agent)) complain(entry, reader, "agent", known);
  }
  const bool has_id = std::any_of(table.begin(), table.end(),
                                  [](const Member& entry) { return entry.key == "id"; });
  reader.key = "agent";
  if (!has_id) reader.error(node, "id is missing");
  return agent;
}

void read_agents(const Member& member, Reader reader, Settings& settings) {
  reader.key = "agent";
  const auto* entries = member.value.as<Node::Array>();
  if (entries == nullptr) {
    reader.error(member.value, "an agent is written as [[agent]], with two brackets");
    return;
  }
  for (const auto& entry : *entries) {
    if (const auto* table = entry.as<Node::Table>()) {
      settings.agent.push_back(read_agent(entry, *table, reader));
    } else {
      reader.wrong_type(entry, "a table, [[agent]]");
    }
  }
}

// One [[secret]] or [[scan]].
template <class Entry>
Entry read_entry(std::string_view section, std::span<const Key<Entry>> keys, const Node& node,
                 const Node::Table& table, Reader reader) {
  Entry result;
  result.place = reader.place(node.position);
  std::vector<std::string_view> known;
  for (const auto& key : keys) known.push_back(key.name);
  for (const auto& entry : table) {
    reader.key = full_key(section, entry.key);
    const auto found = std::find_if(keys.begin(), keys.end(),
                                    [&](const Key<Entry>& key) { return key.name == entry.key; });
    if (found == keys.end()) {
      unknown_key(entry, reader, known);
    } else {
      found->read(entry.value, reader, result);
    }
  }
  return result;
}

template <class Entry>
void read_entries(std::string_view section, std::span<const Key<Entry>> keys, const Member& member,
                  Reader reader, std::vector<Entry>& into) {
  reader.key = section;
  const std::string brackets = "[[" + std::string{section} + "]]";
  const auto* entries = member.value.as<Node::Array>();
  if (entries == nullptr) {
    reader.error(member.value, "a " + std::string{section} + " is written as " + brackets +
                                   ", with two brackets");
    return;
  }
  for (const auto& entry : *entries) {
    if (const auto* table = entry.as<Node::Table>()) {
      into.push_back(read_entry(section, keys, entry, *table, reader));
    } else {
      reader.wrong_type(entry, "a table, " + brackets);
    }
  }
}

}  // namespace

SecretSettings read_secret(const Node& node, const Node::Table& table, Reader reader) {
  return read_entry("secret", secret_keys(), node, table, std::move(reader));
}

ScanSettings read_scan(const Node& node, const Node::Table& table, Reader reader) {
  return read_entry("scan", scan_keys(), node, table, std::move(reader));
}

void unknown_key(const Member& member, const Reader& reader,
                 const std::vector<std::string_view>& known) {
  const auto meant = nearest(member.key, known);
  reader.problems.error(reader.place(member.position), reader.key, "unknown key",
                        meant.empty() ? "" : "did you mean " + std::string{meant} + '?');
}

bool read_agent_key(std::string_view name, const Member& member, const Reader& reader,
                    AgentSettings& agent) {
  const auto keys = agent_keys();
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const Key<AgentSettings>& key) { return key.name == name; });
  if (found == keys.end()) return false;
  agent.keys.push_back({found->section, found->name, member.position.line, member.position.column});
  found->read(member.value, reader, agent);
  return true;
}

Settings read_settings(const Node& document, const Reader& reader) {
  Settings settings;
  settings.file = reader.file;
  std::vector<std::string_view> known{"agent", "scan", "secret"};
  for (const auto& section : sections()) known.push_back(section.name);
  for (const auto& member : std::get<Node::Table>(document.value)) {
    if (member.key == "agent") {
      read_agents(member, reader, settings);
    } else if (member.key == "secret") {
      read_entries("secret", secret_keys(), member, reader, settings.secret);
    } else if (member.key == "scan") {
      read_entries("scan", scan_keys(), member, reader, settings.scan);
    } else if (contains(known, member.key)) {
      read_section(member.key, member, reader, settings);
    } else {
      Reader top = reader;
      top.key = full_key("", member.key);
      complain(member, top, "", known);
    }
  }
  return settings;
}

}  // namespace stile::config
