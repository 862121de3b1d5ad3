// narrow: applies a file from a less trusted author.
#include "config/narrow.h"

#include <algorithm>
#include <filesystem>

#include "base/contains.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "config/list_values.h"
#include "config/settings_reader.h"

namespace stile::config {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t longest_ttl_seconds = 100LL * 366 * 86'400;
constexpr std::string_view inside = "/workspace";

bool is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_below_any(std::string_view path, const std::vector<std::string>& directories) {
  return std::any_of(directories.begin(), directories.end(),
                     [&](const auto& directory) { return is_below(path, directory); });
}

// The host's path, without links being followed: a caller that uses it refuses links.
std::optional<std::string> read_path(const Node& node, const Reader& reader,
                                     const std::string& workspace) {
  const auto text = Text::read(node, reader);
  if (!text) return std::nullopt;
  const fs::path path{*text};
  if (text->empty() || contains(path, "..")) {
    return reader.error(node, in_quotes(*text) + " is empty or contains ..");
  }
  fs::path full = path;
  if (is_below(*text, inside)) {
    full = workspace + text->substr(inside.size());
  } else if (!path.is_absolute()) {
    full = fs::path{workspace} / path;
  }
  auto normal = full.lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

class RestrictionReader {
 public:
  RestrictionReader(Reader reader, const std::string& workspace)
      : reader_{std::move(reader)}, workspace_{workspace} {}

  Restriction read(const Node::Table& table) {
    for (const auto& member : table) {
      reader_.key = printable(member.key.substr(0, 64));
      read_member(member);
    }
    return std::move(restriction_);
  }

 private:
  void read_member(const Member& member) {
    const auto& [name, position, value] = member;
    if (name == "allowed_hosts") {
      restriction_.allow = List<PatternElement>::read(value, reader_);
    } else if (name == "denied_hosts") {
      restriction_.deny = List<PatternElement>::read(value, reader_).value_or(restriction_.deny);
    } else if (name == "read") {
      restriction_.read = read_paths(value);
    } else if (name == "write") {
      restriction_.write = read_paths(value);
    } else if (name == "environment") {
      restriction_.environment = read_variables(value, reader_);
    } else if (name == "resource_limits") {
      restriction_.limits = read_limits(value, reader_).value_or(ResourceLimits{});
    } else if (name == "ttl_seconds") {
      // 0 would be no limit.
      restriction_.ttl_seconds = read_integer(value, reader_, 1, longest_ttl_seconds);
    } else if (name == "network") {
      restriction_.has_network = Boolean::read(value, reader_).value_or(false);
    } else {
      unknown_key(member, reader_,
                  {"allowed_hosts", "denied_hosts", "read", "write", "environment",
                   "resource_limits", "ttl_seconds", "network"});
    }
  }

  std::optional<std::vector<std::string>> read_paths(const Node& node) {
    const auto* elements = node.as<Node::Array>();
    if (elements == nullptr) return reader_.wrong_type(node, "a list");
    std::vector<std::string> paths;
    for (const auto& element : *elements) {
      auto path = read_path(element, reader_, workspace_);
      if (!path) return std::nullopt;
      paths.push_back(std::move(*path));
    }
    return paths;
  }

  Reader reader_;
  const std::string& workspace_;
  Restriction restriction_;
};

class Narrower {
 public:
  Narrower(Permissions permissions, const Restriction& restriction)
      : result_{std::move(permissions)}, restriction_{restriction} {}

  Checked<Permissions> narrow(UnixMicros now) {
    narrow_hosts();
    narrow_files();
    narrow_variables();
    narrow_limits();
    if (restriction_.ttl_seconds) {
      const auto end = now + *restriction_.ttl_seconds * micros_per_second;
      auto& expires = result_.agent.expires;
      expires = expires ? std::min(*expires, end) : end;
    }
    if (problems_.has_errors()) return problems_;
    return std::move(result_);
  }

 private:
  void refuse(const char* key, const std::string& problem) { problems_.error({}, key, problem); }

  void narrow_hosts() {
    auto& agent = result_.agent;
    agent.deny.insert(agent.deny.end(), restriction_.deny.begin(), restriction_.deny.end());
    if (restriction_.allow) {
      for (const auto& [pattern, line] : *restriction_.allow) {
        if (!is_within_allowed(pattern, result_)) {
          refuse("allowed_hosts", pattern.text() + " would be more than the command has");
        }
      }
      check_requests();
      agent.allow = *restriction_.allow;
    }
    if (!restriction_.has_network) {
      agent.allow.clear();
      agent.mode = acl::Mode::offline;
    }
    if (restriction_.allow || !restriction_.has_network) {
      agent.allow_files.clear();
      agent.allow_ip.clear();
    }
  }

  // A request rule allows its hosts and also limits them: neither to keep nor to drop one that is
  // only partly within the new hosts would be narrower.
  void check_requests() {
    for (const auto& request : result_.agent.request) {
      const auto& host = request.host.pattern;
      const auto is_within = [&](const PlacedPattern& placed) {
        const auto& wide = placed.pattern;
        return acl::covers_names(wide.kind, wide.name, host.kind, host.name) &&
               (wide.reach == acl::Pattern::Reach::bare ||
                (wide.reach == host.reach && wide.port == host.port));
      };
      if (std::none_of(restriction_.allow->begin(), restriction_.allow->end(), is_within)) {
        refuse("allowed_hosts", "does not cover " + host.text() +
                                    ", for which the command has a request rule; add it or leave "
                                    "allowed_hosts out");
      }
    }
  }

  void narrow_files() {
    auto& launch = result_.launch;
    auto writable = launch.write;
    writable.push_back(result_.workspace);
    auto readable = launch.read;
    readable.insert(readable.end(), writable.begin(), writable.end());
    check_paths("read", restriction_.read, readable);
    check_paths("write", restriction_.write, writable);
    if (restriction_.read) readable = *restriction_.read;
    if (restriction_.write) {
      writable = *restriction_.write;
    } else if (restriction_.read) {
      std::erase_if(writable,
                    [&](const std::string& path) { return !is_below_any(path, readable); });
    }
    if (!restriction_.read && !restriction_.write) return;
    using enum WorkspaceAccess;
    const auto& workspace = result_.workspace;
    result_.workspace_access = is_below_any(workspace, writable)   ? write
                               : is_below_any(workspace, readable) ? read
                                                                   : none;
    for (auto* paths : {&readable, &writable}) std::erase(*paths, workspace);
    launch.read = std::move(readable);
    launch.write = std::move(writable);
  }

  void check_paths(const char* key, const std::optional<std::vector<std::string>>& paths,
                   const std::vector<std::string>& within) {
    if (!paths) return;
    for (const auto& path : *paths) {
      if (!is_below_any(path, within)) {
        refuse(key, printable(path) + " would be more than the command has");
      }
    }
  }

  void narrow_variables() {
    if (!restriction_.environment) return;
    auto& variables = result_.launch.environment;
    for (const auto& variable : *restriction_.environment) {
      if (!contains(variables, variable)) {
        refuse("environment", variable.name + " is not set, or to another value");
      }
    }
    variables = *restriction_.environment;
  }

  void narrow_limits() {
    for (const auto& key : limit_keys()) {
      const auto& wanted = restriction_.limits.*key.member;
      auto& limit = result_.launch.limits.*key.member;
      if (!wanted) continue;
      // Without a limit, systemd gives each unit the same share.
      constexpr std::uint64_t default_shares = 1024;
      if (!limit && key.name == "cpu_shares" && *wanted > default_shares) {
        refuse("resource_limits", "cpu_shares is more than the default of 1024");
      }
      if (limit && *wanted > *limit) {
        refuse("resource_limits", std::string{key.name} + ' ' + std::to_string(*wanted) +
                                      " is more than the " + std::to_string(*limit) +
                                      " that the command has");
      }
      limit = wanted;
    }
  }

  Permissions result_;
  const Restriction& restriction_;
  Diagnostics problems_;
};

}  // namespace

bool is_within_allowed(const acl::Pattern& pattern, const Permissions& permissions) {
  using Reach = acl::Pattern::Reach;
  return std::any_of(
      permissions.agent.allow.begin(), permissions.agent.allow.end(), [&](const auto& placed) {
        const auto& wide = placed.pattern;
        if (!acl::covers_names(wide.kind, wide.name, pattern.kind, pattern.name)) return false;
        if (wide.reach == pattern.reach && wide.port == pattern.port) return true;
        if (wide.reach != Reach::bare) return false;
        return (pattern.reach == Reach::tunnel && contains(permissions.ports, pattern.port)) ||
               (pattern.reach == Reach::http && contains(permissions.http_ports, pattern.port));
      });
}

Checked<Restriction> parse_restriction(std::string_view text, const std::string& file,
                                       const std::string& workspace) {
  Diagnostics problems;
  if (text.size() > max_restriction_bytes) {
    problems.error({file, 0, 0}, "", "larger than 64 KiB");
    return problems;
  }
  const auto document = parse_json(text, file);
  if (!document) return document.error();
  return read_restriction(*document, file, workspace);
}

Checked<Restriction> read_restriction(const Node& node, const std::string& file,
                                      const std::string& workspace) {
  Diagnostics problems;
  const auto* table = node.as<Node::Table>();
  if (table == nullptr) {
    problems.error({file, 1, 1}, "", "a restriction is one JSON object");
    return problems;
  }
  auto restriction = RestrictionReader{{problems, file, std::nullopt, {}}, workspace}.read(*table);
  if (problems.has_errors()) return problems;
  return restriction;
}

Checked<Permissions> narrow(Permissions permissions, const Restriction& restriction,
                            UnixMicros now) {
  return Narrower{std::move(permissions), restriction}.narrow(now);
}

}  // namespace stile::config
