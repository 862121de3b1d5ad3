// resolver: the resolv.conf of an agent that has a name server.
#include "netns/resolver.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "confine/hosts.h"
#include "netns/ruleset.h"

namespace stile::netns {
namespace {

constexpr const char* resolver_file = "resolv.conf";
constexpr const char* hosts_name = "hosts";
constexpr std::size_t max_hosts_bytes = std::size_t{16} << 20U;

std::string directory_of(std::string_view id) {
  return std::string{resolver_directory} + '/' + namespace_name(id);
}

UniqueFd open_folder(const std::string& path) {
  return UniqueFd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

}  // namespace

std::string resolver_path(std::string_view id) { return directory_of(id) + '/' + resolver_file; }

std::string resolver_text(const config::NetnsSettings& settings) {
  return "# Made by stile-netns: names of hosts that the agent may reach, and no others.\n"
         "nameserver " +
         settings.gateway.text() + "\n";
}

Result<bool> has_resolver(const config::NetnsSettings& settings, const Agent& agent) {
  const auto directory = open_folder(directory_of(agent.id));
  if (!directory) return !is_captured(settings, agent);
  const auto text = read_file(directory.get(), resolver_file);
  if (!text) return text.error();
  const auto hosts = read_file(directory.get(), hosts_name, max_hosts_bytes);
  if (!hosts) return hosts.error();
  return is_captured(settings, agent) ? *text == resolver_text(settings) && *hosts : !*text;
}

Result<void> write_resolver(const config::NetnsSettings& settings, const Agent& agent) {
  if (!is_captured(settings, agent)) return remove_resolver(agent);
  const auto path = directory_of(agent.id);
  for (const auto& each : {std::string{resolver_directory}, path}) {
    if (::mkdir(each.c_str(), 0755) != 0 && errno != EEXIST) {
      return system_error("cannot make " + each);
    }
  }
  const auto directory = open_folder(path);
  if (!directory) return system_error("cannot open " + path);
  // A hosts file of the operator's stays.
  const auto hosts = read_file(directory.get(), hosts_name, max_hosts_bytes);
  if (!hosts) return hosts.error();
  if (!*hosts) {
    const auto text = confine::hosts_inside(read_or_empty(confine::hosts_file));
    const auto done = replace_file(directory.get(), hosts_name, text, 0644, FileOwner{0, 0});
    if (!done) return done;
  }
  return replace_file(directory.get(), resolver_file, resolver_text(settings), 0644,
                      FileOwner{0, 0});
}

// Files that the operator has put there stay.
Result<void> remove_resolver(const Agent& agent) {
  const auto path = directory_of(agent.id);
  const auto directory = open_folder(path);
  if (!directory) return {};
  const auto hosts = read_file(directory.get(), hosts_name, max_hosts_bytes);
  if (hosts && *hosts && (*hosts)->starts_with(confine::hosts_mark)) {
    if (const auto gone = remove_file(directory.get(), hosts_name); !gone) return gone.error();
  }
  const auto removed = remove_file(directory.get(), resolver_file);
  if (!removed) return removed.error();
  ::rmdir(path.c_str());
  return {};
}

}  // namespace stile::netns
