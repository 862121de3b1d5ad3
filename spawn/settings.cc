// SpawnSettings: /etc/stile/spawner.toml.
#include "spawn/settings.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/contains.h"
#include "base/files.h"
#include "base/quoted.h"
#include "config/card.h"
#include "config/list_values.h"
#include "config/settings_reader.h"
#include "config/toml_loader.h"
#include "config/trust.h"
#include "spawn/texts.h"

namespace stile::spawn {
namespace {

using config::Member;
using config::Node;
using config::Reader;

constexpr std::size_t max_settings_bytes = 1U << 20U;
constexpr std::int64_t longest_ttl_seconds = 366LL * 86'400;
constexpr std::array<std::string_view, 9> narrowable{
    "allowed_hosts", "denied_hosts",    "network",     "read", "write",
    "environment",   "resource_limits", "ttl_seconds", "tags"};
// Keys of a card that belong to one worker, or that the caller decides.
constexpr std::array<std::string_view, 11> not_in_templates{
    "id",      "agent_id", "source",    "listen",       "listen_mode", "listen_group",
    "created", "expires",  "workspace", "api_key_file", "api_provider"};

class TemplateReader {
 public:
  TemplateReader(Reader reader, const LoadProfile& load_profile)
      : reader_{std::move(reader)}, prefix_{reader_.key}, load_profile_{load_profile} {}

  Template read(const Member& named) {
    template_.name = named.key;
    const auto* table = named.value.as<Node::Table>();
    if (table == nullptr) {
      reader_.wrong_type(named.value, "a table");
      return std::move(template_);
    }
    if (!config::is_profile_name(named.key)) {
      reader_.error(named.value, "a name has letters, digits, '-', '_' and '.'");
    }
    Node::Table card;
    for (const auto& member : *table) {
      reader_.key = prefix_ + '.' + printable(member.key.substr(0, 64));
      read_member(member, card);
    }
    reader_.key = prefix_;
    finish(named.value, std::move(card));
    return std::move(template_);
  }

 private:
  void read_member(const Member& member, Node::Table& card) {
    const auto& key = member.key;
    if (contains(not_in_templates, key)) {
      reader_.error(member.value, "cannot be set in a template");
    } else if (key == "task") {
      if (auto words = config::read_texts(member.value, reader_))
        template_.task = std::move(*words);
    } else if (key == "max_tasks") {
      const auto count = config::read_integer(member.value, reader_, 1, 64);
      template_.max_tasks = static_cast<std::uint32_t>(count.value_or(1));
    } else if (key == "ttl_seconds") {
      template_.ttl_seconds =
          config::read_integer(member.value, reader_, 0, longest_ttl_seconds).value_or(1);
    } else if (key == "profile") {
      add_profile(member);
    } else if (key == "narrow") {
      read_narrow(member);
    } else if (!config::read_launch_key(member, reader_, template_.permissions.launch)) {
      card.push_back(member);
    }
  }

  void read_narrow(const Member& member) {
    auto keys = config::read_texts(member.value, reader_);
    if (!keys) return;
    for (const auto& key : *keys) {
      if (!contains(narrowable, key)) {
        reader_.error(member.value, "callers cannot narrow " + in_quotes(key));
      }
    }
    template_.narrow = std::move(*keys);
  }

  void add_profile(const Member& member) {
    const auto name = config::Text::read(member.value, reader_);
    if (!name || name->empty()) return;
    auto profile = load_profile_(*name);
    if (!profile) {
      reader_.problems.append(profile.error());
      reader_.error(member.value, "the profile cannot be used");
      return;
    }
    profile_ = std::move(*profile);
  }

  // A worker has a home of its own, so that files of a person's home are not for it.
  static void add_paths(const std::vector<std::string>& paths, std::vector<std::string>& to) {
    for (const auto& path : paths) {
      std::error_code failed;
      if (path.starts_with('/') && std::filesystem::exists(path, failed)) to.push_back(path);
    }
  }

  void finish(const Node& at, Node::Table card) {
    auto& permissions = template_.permissions;
    card.push_back({"agent_id", {}, {std::string{"template"}, {}}});
    auto agent = config::parse_card(config::json_text(Node{card, {}}), {reader_.file, 0, {}});
    if (!agent) {
      const auto problems = agent.error();  // error() returns a copy
      for (const auto& one : problems.items()) {
        reader_.key = prefix_ + (one.key.empty() ? "" : '.' + one.key);
        reader_.error(at, one.problem, one.hint);
      }
      return;
    }
    permissions.agent = std::move(*agent);
    auto& allow = permissions.agent.allow;
    allow.insert(allow.end(), profile_.allow.begin(), profile_.allow.end());
    auto variables = profile_.environment;
    for (const auto& own : permissions.launch.environment) {
      std::erase_if(variables, [&](const auto& one) { return one.name == own.name; });
      variables.push_back(own);
    }
    permissions.launch.environment = std::move(variables);
    add_paths(profile_.read, permissions.launch.read);
    add_paths(profile_.write, permissions.launch.write);
    // The daemon's [egress] is not known here: without ports of its own, a template covers no
    // pattern of a caller that names a port.
    permissions.ports = permissions.agent.ports.value_or(std::vector<std::uint16_t>{});
    permissions.http_ports = permissions.agent.http_ports.value_or(std::vector<std::uint16_t>{});
    std::erase_if(card, [](const Member& member) {
      return member.key == "agent_id" || member.key == "allow" || member.key == "allowed_hosts";
    });
    card.push_back({"allowed_hosts", {}, patterns_node(allow)});
    template_.card = {std::move(card), {}};
  }

  Reader reader_;
  std::string prefix_;
  const LoadProfile& load_profile_;
  config::Profile profile_;
  Template template_;
};

void read_workspaces(const Member& member, const Reader& reader, SpawnSettings& settings) {
  auto paths = config::List<config::PathElement>::read(member.value, reader);
  if (!paths) return;
  settings.allowed_workspaces.clear();
  for (const auto& path : *paths) {
    auto normal = std::filesystem::path{path}.lexically_normal().string();
    while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
    if (normal == "/") reader.error(member.value, "the whole system cannot be a workspace");
    settings.allowed_workspaces.push_back(std::move(normal));
  }
}

void read_templates(const Member& member, Reader reader, const LoadProfile& load_profile,
                    SpawnSettings& settings) {
  const auto* table = member.value.as<Node::Table>();
  if (table == nullptr) {
    reader.wrong_type(member.value, "a table of templates");
    return;
  }
  for (const auto& named : *table) {
    reader.key = "templates." + printable(named.key.substr(0, 64));
    settings.templates.push_back(TemplateReader{reader, load_profile}.read(named));
  }
}

}  // namespace

const Template* SpawnSettings::find(std::string_view name) const {
  const auto found = std::find_if(templates.begin(), templates.end(),
                                  [&](const Template& one) { return one.name == name; });
  return found == templates.end() ? nullptr : &*found;
}

config::Checked<SpawnSettings> parse_settings(std::string_view text, const std::string& file,
                                              const LoadProfile& load_profile) {
  const auto document = config::parse_toml(text, file);
  if (!document) return document.error();
  config::Diagnostics problems;
  SpawnSettings settings;
  Reader reader{problems, file, std::nullopt, {}};
  for (const auto& member : std::get<Node::Table>(document->value)) {
    reader.key = printable(member.key.substr(0, 64));
    const auto number = [&](std::int64_t least, std::int64_t most, std::uint32_t& to) {
      const auto value = config::read_integer(member.value, reader, least, most);
      if (value) to = static_cast<std::uint32_t>(*value);
    };
    if (member.key == "max_workers") {
      number(1, 10'000, settings.max_workers);
    } else if (member.key == "spawn_cooldown_seconds") {
      number(0, 3600, settings.spawn_cooldown_seconds);
    } else if (member.key == "allowed_workspaces") {
      read_workspaces(member, reader, settings);
    } else if (member.key == "templates") {
      read_templates(member, reader, load_profile, settings);
    } else {
      config::unknown_key(
          member, reader,
          {"max_workers", "allowed_workspaces", "spawn_cooldown_seconds", "templates"});
    }
  }
  if (settings.find("default") == nullptr) {
    settings.templates.push_back(
        TemplateReader{reader, load_profile}.read({"default", {}, Node{Node::Table{}, {}}}));
  }
  if (problems.has_errors()) return problems;
  return settings;
}

config::Checked<SpawnSettings> load_settings(const std::string& path, bool may_be_missing) {
  std::error_code failed;
  std::string text;
  if (!may_be_missing || std::filesystem::exists(path, failed)) {
    const auto opened = config::open_trusted(path, std::nullopt);
    auto read = opened ? read_all(opened->file.get(), max_settings_bytes) : opened.error();
    if (!read) {
      config::Diagnostics problems;
      problems.file_error(path, read.error().message);
      return problems;
    }
    text = std::move(*read);
  }
  return parse_settings(text, path, [](const std::string& name) {
    return config::load_profile(name, config::profile_directories());
  });
}

}  // namespace stile::spawn
