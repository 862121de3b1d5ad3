// ControlSocket: where an operator can query and change a running command.
#include "run/control_socket.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "control/run_sockets.h"
#include "proxy/server/unix_socket.h"

namespace stile::run {
namespace {

constexpr mode_t others_may_write = 022;

// Refuses a folder that other users can change.
bool make_folder(const std::string& folder) {
  std::error_code ignored;  // the checks below decide
  std::filesystem::create_directories(std::filesystem::path{folder}.parent_path(), ignored);
  ::mkdir(folder.c_str(), ::geteuid() == 0 ? 0755 : 0700);
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & others_may_write) == 0;
}

// After dropping root we cannot remove a file that root created. A process that stays root removes
// it: it has one path, and waits only until we end.
UniqueFd start_remover(const std::string& path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  UniqueFd ours{ends[1]}, theirs{ends[0]};
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child > 0) return ours;
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::dup2(theirs.get(), 0);
  ::syscall(SYS_close_range, 1U, ~0U, 0U);
  char never = 0;
  while (::read(0, &never, 1) > 0) {
  }
  ::unlink(path.c_str());
  ::_exit(0);
}

}  // namespace

ControlSocket::ControlSocket(const Identity& identity) {
  const auto folder = control::run_socket_folder();
  if (!make_folder(folder)) return;
  const auto name = std::to_string(::getpid());
  selector_ = " --run " + name;
  const auto path = control::run_socket_path(folder, name);
  auto socket = server::bind_unix(path, {0600, {}}, path);
  if (!socket) return;
  socket_ = std::move(*socket);
  path_ = path;
  folder_ = folder;
  if (identity.is_changed) remover_ = start_remover(path);
}

ControlSocket::~ControlSocket() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace stile::run
