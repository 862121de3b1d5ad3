// Profile: what a known agent needs.
#include "config/profile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/ascii.h"
#include "base/contains.h"
#include "base/files.h"
#include "base/joined.h"
#include "base/program.h"
#include "base/quoted.h"
#include "config/fields.h"
#include "config/inside_values.h"
#include "config/list_values.h"
#include "config/settings_reader.h"
#include "config/toml_loader.h"
#include "config/trust.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_profile_bytes = 64U << 10U;

std::optional<std::vector<std::string>> read_home_paths(const Node& node, const Reader& reader) {
  auto paths = read_texts(node, reader);
  if (!paths) return std::nullopt;
  for (const auto& path : *paths) {
    const fs::path parts{path};
    const bool is_rooted = path.starts_with("~/") || path.starts_with('/');
    if (!is_rooted || contains(parts, "..")) {
      return reader.error(node, in_quotes(path) + " must begin with ~/ or / and contain no ..");
    }
  }
  return paths;
}

// [[secret]] of a profile: the keys of one in stile.toml, but the file may be in the home.
std::optional<SecretSettings> read_profile_secret(const Node& node, Reader reader) {
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) return reader.wrong_type(node, "a table, [[secret]]");
  auto others = *table;
  std::erase_if(others, [](const Member& member) { return member.key == "file"; });
  auto secret = read_secret(node, others, reader);
  for (const auto& member : *table) {
    if (member.key != "file") continue;
    const Node list{Node::Array{member.value}, member.value.position};
    if (const auto paths = read_home_paths(list, reader)) secret.file = paths->front();
  }
  if (secret.name.empty() || secret.hosts.empty() || secret.header.empty() ||
      secret.agent_env.empty() || !secret.credential.empty()) {
    return reader.error(node, "a secret of a profile has name, hosts, header and agent_env",
                        "its value is that of the variable agent_env, else of file");
  }
  return secret;
}

std::optional<std::vector<SecretSettings>> read_profile_secrets(const Node& node,
                                                                const Reader& reader) {
  const auto* entries = node.as<Node::Array>();
  if (entries == nullptr) return reader.wrong_type(node, "tables, [[secret]]");
  std::vector<SecretSettings> secrets;
  for (const auto& entry : *entries) {
    auto secret = read_profile_secret(entry, reader);
    if (!secret) return std::nullopt;
    secrets.push_back(std::move(*secret));
  }
  return secrets;
}

std::optional<std::vector<std::string>> read_can(const Node& node, const Reader& reader) {
  const auto all = List<CanElement>::read(node, reader);
  if (!all) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& one : *all) texts.push_back(one.text);
  return texts;
}

constexpr std::array profile_fields{
    field<&Profile::about, Text::read>("about"),
    field<&Profile::allow, List<PatternElement>::read>("allow"),
    field<&Profile::can, read_can>("can"),
    field<&Profile::harmless, List<PatternElement>::read>("harmless"),
    field<&Profile::read, read_home_paths>("read"),
    field<&Profile::write, read_home_paths>("write"),
    field<&Profile::environment, read_variables>("environment"),
    field<&Profile::secrets, read_profile_secrets>("secret"),
    field<&Profile::requests, List<RequestElement>::read>("request"),
};

std::string variable_or(const char* name, std::string other) {
  const char* value = ::secure_getenv(name);
  return value != nullptr && *value == '/' ? value : std::move(other);
}

}  // namespace

bool is_profile_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && name.front() != '.' && has_only(name, "-_.");
}

Checked<Profile> parse_profile(std::string_view text, const std::string& name,
                               const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.error();
  Diagnostics problems;
  Profile profile;
  profile.name = name;
  profile.file = file;
  Reader reader{problems, file, std::nullopt, {}};
  for (const auto& member : std::get<Node::Table>(document->value)) {
    reader.key = printable(member.key.substr(0, 64));
    if (!read_field(profile_fields, member, reader, profile))
      unknown_key(member, reader, names_of(profile_fields));
  }
  if (problems.has_errors()) return problems;
  return profile;
}

bool has_profile(const std::string& name, const std::vector<std::string>& directories) {
  return is_profile_name(name) &&
         std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
           std::error_code failed;
           return fs::exists(fs::path{directory} / (name + ".toml"), failed);
         });
}

Checked<Profile> load_profile(const std::string& name,
                              const std::vector<std::string>& directories) {
  Diagnostics problems;
  for (const auto& directory : directories) {
    if (!has_profile(name, {directory})) continue;
    const auto path = (fs::path{directory} / (name + ".toml")).string();
    const auto opened = open_trusted(path, std::nullopt);
    const auto text = opened ? read_all(opened->file.get(), max_profile_bytes) : opened.error();
    if (text) return parse_profile(*text, name, path);
    problems.file_error(path, text.error().message);
    return problems;
  }
  problems.error({}, "",
                 "there is no profile " + printable(name) + " in " + joined(directories, " and "));
  return problems;
}

std::vector<std::string> profile_names(const std::vector<std::string>& directories) {
  std::set<std::string> names;
  for (const auto& directory : directories) {
    std::error_code failed;
    for (fs::directory_iterator at{directory, failed}; !failed && at != fs::directory_iterator{};
         at.increment(failed)) {
      const auto name = at->path().stem().string();
      if (at->path().extension() == ".toml" && is_profile_name(name)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> profile_directories() {
  std::vector<std::string> directories;
  const auto home = variable_or("HOME", "");
  const auto config = variable_or("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config");
  if (!config.empty()) directories.push_back(config + "/stile/profiles");
  directories.push_back(
      variable_or("STILE_PROFILES",
                  (fs::path{program_directory()}.parent_path() / "share/stile/profiles").string()));
  return directories;
}

}  // namespace stile::config
