// RunningCopy: the process that `-k` signals.
#include "squid/running_copy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "base/system_error.h"
#include "config/accounts.h"

namespace stile::squid {
namespace {

// 0: there is no holder.
pid_t lock_holder(int fd) {
  struct flock query {};
  query.l_type = F_RDLCK;  // conflicts only with a write lock
  if (::fcntl(fd, F_GETLK, &query) != 0 || query.l_type == F_UNLCK) return 0;
  return query.l_pid;
}

// Real, effective and saved, if they are the same.
std::optional<uid_t> only_user_of(pid_t pid) {
  std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
  std::string word;
  while (status >> word && word != "Uid:") continue;
  uid_t real = 0, effective = 0, saved = 0;
  if (!(status >> real >> effective >> saved)) return std::nullopt;
  if (real != effective || real != saved) return std::nullopt;
  return real;
}

Result<void> check_user(pid_t pid, uid_t file_owner, const std::string& user) {
  if (::geteuid() != 0) return {};  // the kernel checks
  const auto account = config::find_user(user);
  const auto actual = only_user_of(pid);
  const uid_t expected = file_owner != 0 ? file_owner : account ? account->id : 0;
  if (actual == expected) return {};
  return Error{"process " + std::to_string(pid) + " holds the lock, but does not run as user " +
               (file_owner != 0 ? std::to_string(file_owner) : user) +
               "; no signal was sent. Check the process and use kill(1)"};
}

}  // namespace

Result<RunningCopy> RunningCopy::find(const std::string& pid_file, const std::string& user) {
  if (pid_file.empty()) return Error{"pid_filename is none, so the running copy cannot be found"};
  const auto failed = [&](const std::string& why) { return Error{pid_file + ": " + why}; };
  const UniqueFd file{
      ::open(pid_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
  if (!file && errno == ENOENT) return failed("no such file, so no copy is running");
  if (!file) return failed(error_text(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failed(error_text(errno));
  const pid_t pid = lock_holder(file.get());
  if (!S_ISREG(info.st_mode) || pid <= 0) return failed("there is no running copy");
  UniqueFd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  // The holder is the same before and after: the descriptor does not refer to a later process.
  if (!process || lock_holder(file.get()) != pid) return failed("there is no running copy");
  if (auto checked = check_user(pid, info.st_uid, user); !checked) {
    return failed(checked.error().message);
  }
  return RunningCopy{pid, std::move(process)};
}

Result<void> RunningCopy::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, process_.get(), number, nullptr, 0) == 0) return {};
  return Error{"process " + std::to_string(pid_) + ": " + error_text(errno)};
}

bool RunningCopy::ends_within(std::chrono::milliseconds time) const {
  pollfd end{process_.get(), POLLIN, 0};
  return ::poll(&end, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace stile::squid
