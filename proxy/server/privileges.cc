// The privileges that the daemon gives up before it serves clients.
#include "proxy/server/privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/system_error.h"
#include "config/accounts.h"

namespace stile::server {
namespace {

Error privileges_failed(const std::string& what) { return {what + ": " + error_text(errno)}; }

Result<void> become(const std::string& user) {
  const auto found = config::find_user(user);
  if (!found)
    return Error{
        "user " + user +
        ": there is no such user; change `user` in [server], or create it: useradd --system " +
        user};
  if (::initgroups(user.c_str(), found->group) != 0 || ::setgid(found->group) != 0 ||
      ::setuid(found->id) != 0) {
    return privileges_failed("cannot become user " + user);
  }
  return {};
}

// Before anything else: it needs CAP_SETPCAP, which is lost with the user change. Without it
// nothing can be dropped; no_new_privs then keeps the remaining ones from ever being used.
void empty_bounding_set() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

Result<void> drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  auto held = none;
  // A unit that grants none may refuse the call that drops them.
  const bool has_none =
      ::syscall(SYS_capget, &header, held.data()) == 0 &&
      std::all_of(held.begin(), held.end(), [](const __user_cap_data_struct& one) {
        return (one.effective | one.permitted | one.inheritable) == 0;
      });
  if (!has_none && ::syscall(SYS_capset, &header, none.data()) != 0)
    return privileges_failed("cannot drop capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return privileges_failed("no_new_privs");
  return {};
}

}  // namespace

void prepare_process() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Result<void> drop_privileges(const std::string& user) {
  empty_bounding_set();
  if (!user.empty() && ::geteuid() == 0) {
    if (auto changed = become(user); !changed) return changed;
  }
  auto dropped = drop_capabilities();
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // setuid has reset it
  return dropped;
}

}  // namespace stile::server
