// seccomp: the system calls that a confined command may not use.
#include "confine/seccomp.h"

#include <linux/tiocl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/contains.h"
#include "base/system_error.h"

namespace stile::confine {
namespace {

constexpr std::array<std::uint32_t, 5> allowed_families{AF_UNIX, AF_INET, AF_INET6, AF_NETLINK,
                                                        AF_PACKET};

// The kernel uses the lower half of an ioctl number, so the filter compares only that: a number
// with bits set in its upper half would bypass an ordinary comparison (as in CVE-2019-10063).
scmp_arg_cmp comparison(const Argument& argument) {
  if (argument.is == Argument::Is::at_least) {
    return scmp_arg_cmp{argument.index, SCMP_CMP_GE, argument.value, 0};
  }
  constexpr scmp_datum_t lower_half = 0xffffffff;
  return scmp_arg_cmp{argument.index, SCMP_CMP_MASKED_EQ, lower_half, argument.value};
}

}  // namespace

std::vector<RefusedCall> refused_calls() {
  std::vector<RefusedCall> list{{SCMP_SYS(io_uring_setup), ENOSYS, {}},
                                {SCMP_SYS(add_key), ENOSYS, {}},
                                {SCMP_SYS(request_key), ENOSYS, {}},
                                {SCMP_SYS(keyctl), ENOSYS, {}},
                                {SCMP_SYS(syslog), EPERM, {}}};
  constexpr std::uint32_t beyond = AF_PACKET + 1;
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
    for (std::uint32_t family = 0; family < beyond; ++family) {
      if (!contains(allowed_families, family)) {
        list.push_back({call, EAFNOSUPPORT, {{0, Argument::Is::equal, family}}});
      }
    }
    list.push_back({call, EAFNOSUPPORT, {{0, Argument::Is::at_least, beyond}}});
  }
  for (const std::uint32_t request : {std::uint32_t{TIOCSTI}, std::uint32_t{TIOCLINUX}}) {
    list.push_back({SCMP_SYS(ioctl), EPERM, {{1, Argument::Is::equal, request}}});
  }
  // Programs that keep secrets give up if they cannot forbid core files, so that they may believe
  // it.
  constexpr Argument::Is equal = Argument::Is::equal, at_least = Argument::Is::at_least;
  list.push_back({SCMP_SYS(setrlimit), 0, {{0, equal, RLIMIT_CORE}}});
  list.push_back(
      {SCMP_SYS(prlimit64), 0, {{1, equal, RLIMIT_CORE}, {2, at_least, 1}}});  // not null
  return list;
}

Result<void> refuse_calls(const std::vector<RefusedCall>& refusals) {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter{::seccomp_init(SCMP_ACT_ALLOW),
                                                                ::seccomp_release};
  if (!filter) return Error{"cannot make the system call filter"};
  int code = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const auto& [call, error, when] : refusals) {
    if (code != 0) break;
    const auto action = SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
    std::vector<scmp_arg_cmp> conditions;
    for (const auto& argument : when) conditions.push_back(comparison(argument));
    code = ::seccomp_rule_add_array(filter.get(), action, call,
                                    static_cast<unsigned>(conditions.size()), conditions.data());
  }
  if (code == 0) code = ::seccomp_load(filter.get());
  if (code != 0) return system_error("cannot install the system call filter", -code);
  return {};
}

}  // namespace stile::confine
