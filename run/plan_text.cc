// What a command sees and is allowed, as text: for --dry-run and for the log.
#include "run/plan_text.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/contains.h"
#include "base/quoted.h"
#include "config/effective.h"
#include "config/list_file_cache.h"

namespace stile::run {
namespace {

std::string_view kind_of(const confine::Mount& mount) {
  using enum confine::MountContent;
  switch (mount.content) {
    case bind:
      return mount.is_writable ? "writable" : "read-only";
    case empty:
      return "empty, writable";
    case proc:
      return "processes inside";
    case sys:
      return "read-only";
    case devices:
      return "a few devices";
    case text:
      return "read-only, made for the command";
  }
  return "";
}

void print_files(const confine::View& view, std::ostream& out) {
  out << "\n# Files\n";
  for (const auto& mount : view.mounts) {
    out << printable(mount.target) << ": " << kind_of(mount);
    if (!mount.source.empty()) out << ", " << printable(mount.source) << " of the host";
    out << '\n';
  }
  for (const auto& path : view.covers) out << printable(path) << ": hidden\n";
  out << "starts in " << (view.directory.empty() ? "/" : printable(view.directory)) << '\n';
}

void print_limits(const config::ResourceLimits& limits, std::ostream& out) {
  out << "\n# Limits\n";
  bool is_any = false;
  for (const auto& key : config::limit_keys()) {
    if (!(limits.*key.member)) continue;
    out << key.name << " = " << *(limits.*key.member) << '\n';
    is_any = true;
  }
  if (!is_any) out << "none\n";
}

void print_policy(const Launch& launch, std::ostream& out) {
  const auto& agent = launch.permissions.agent;
  config::ListFileCache lists{::geteuid()};
  config::Diagnostics ignored;  // the policy was compiled, so its files could be read
  lists.get_all(agent.allow_files, {}, "allow_files", nullptr, ignored);
  lists.get_all(agent.deny_files, {}, "deny_files", nullptr, ignored);
  config::CapabilityFiles capabilities{::geteuid()};
  config::print_effective(agent, launch.settings, lists, capabilities, out);
}

}  // namespace

std::vector<std::string> policy_lines(const Launch& launch) {
  const auto lines_of = [](const Launch& one) {
    std::stringstream text;
    print_policy(one, text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
    return lines;
  };
  const auto defaults = lines_of(Launch{});
  auto lines = lines_of(launch);
  std::erase_if(lines, [&](const std::string& line) { return contains(defaults, line); });
  return lines;
}

void print_plan(const Launch& launch, const confine::View& view, std::ostream& out) {
  const auto& settings = launch.permissions.launch;
  out << "# Policy\n";
  print_policy(launch, out);
  print_files(view, out);
  out << "\n# Network\n"
      << (launch.permissions.agent.mode == acl::Mode::offline
              ? "none: every request is refused\n"
              : "a loopback with the proxy at 127.0.0.1:3128, which enforces the policy\n");
  out << "\n# Variables that are set\n";
  for (const auto& variable : settings.environment) out << variable.name << '\n';
  if (settings.environment.empty()) out << "only those of the proxy\n";
  print_limits(settings.limits, out);
  out << "\n# Command\n";
  for (const auto& word : launch.command) {
    out << (&word == &launch.command.front() ? "" : " ") << printable(shell_word(word));
  }
  out << "\nas user " << launch.identity.uid << ". Nothing was run.\n";
}

}  // namespace stile::run
