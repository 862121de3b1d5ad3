// The control sockets: bound before privileges are dropped, or passed by systemd.
#include "proxy/server/control_sockets.h"

#include <filesystem>
#include <system_error>

#include "base/passed_descriptors.h"
#include "proxy/server/unix_socket.h"

namespace stile::server {
namespace {

Result<UniqueFd> bind_one(const std::string& path, const std::string& group,
                          bool takes_descriptors) {
  // Without a package the folder may not exist; with a new account its parents may be missing as
  // well.
  std::error_code ignored;  // only a failing bind matters
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), ignored);
  return bind_unix(path, {0660, group, takes_descriptors}, "control " + path);
}

}  // namespace

std::string read_only_path(const config::ServerSettings& settings) {
  return (std::filesystem::path{settings.control}.parent_path() / "read.sock").string();
}

Result<ControlSockets> bind_control(const config::ServerSettings& settings, ControlSockets passed) {
  if (passed.read_only) refuse_descriptors(passed.read_only.get());
  if (!passed.control && !settings.control.empty()) {
    auto socket = bind_one(settings.control, settings.control_group, true);
    if (!socket) return socket.error();
    passed.control = std::move(*socket);
  }
  if (!passed.read_only && !settings.control.empty() && !settings.read_only_group.empty()) {
    auto socket = bind_one(read_only_path(settings), settings.read_only_group, false);
    if (!socket) return socket.error();
    passed.read_only = std::move(*socket);
  }
  return passed;
}

}  // namespace stile::server
