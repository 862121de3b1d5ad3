// The control sockets: bound before privileges are dropped, or passed by systemd.
#include "proxy/server/control_sockets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "acl/error_text.h"
#include "config/accounts.h"
#include "proxy/server/unix_socket.h"

namespace stile::server {
namespace {

Error control_failed(const std::string& path) {
  return {"control " + path + ": " + error_text(errno)};
}

// "" is the daemon's own group: nothing to change.
Result<std::optional<gid_t>> find_group(const std::string& name) {
  if (name.empty()) return std::optional<gid_t>{};
  const auto found = config::find_group(name);
  if (!found) return Error{"control: there is no group " + name};
  return found;
}

Result<UniqueFd> bind_one(const std::string& path, const std::string& group) {
  const auto gid = find_group(group);
  if (!gid) return gid.error();
  // Without a package nobody has made the folder in which it lies; a new account has not even
  // those above it.
  std::error_code ignored;  // what matters is whether it can be bound
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), ignored);
  const mode_t before = ::umask(0777);  // nobody connects until the group is right
  auto socket = bind_unix(path, "control " + path);
  ::umask(before);
  if (!socket) return socket;
  if (*gid && ::chown(path.c_str(), static_cast<uid_t>(-1), **gid) != 0)
    return control_failed(path);
  if (::chmod(path.c_str(), 0660) != 0) return control_failed(path);
  return socket;
}

}  // namespace

std::string read_only_path(const config::ServerSettings& settings) {
  return (std::filesystem::path{settings.control}.parent_path() / "read.sock").string();
}

Result<ControlSockets> bind_control(const config::ServerSettings& settings, ControlSockets passed) {
  if (!passed.control && !settings.control.empty()) {
    auto socket = bind_one(settings.control, settings.control_group);
    if (!socket) return socket.error();
    passed.control = std::move(*socket);
  }
  if (!passed.read_only && !settings.control.empty() && !settings.read_only_group.empty()) {
    auto socket = bind_one(read_only_path(settings), settings.read_only_group);
    if (!socket) return socket.error();
    passed.read_only = std::move(*socket);
  }
  return passed;
}

}  // namespace stile::server
