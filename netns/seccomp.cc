// seccomp: system calls that lead around a network namespace.
#include "netns/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/tiocl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "netns/files.h"

namespace stile::netns {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native = AUDIT_ARCH_AARCH64;
#else
#error "the number of this architecture is missing"
#endif

// On x86-64, the numbers of a second ABI (x32) have this bit. Elsewhere no call has it.
constexpr std::uint32_t second_abi_bit = 0x40000000;

constexpr std::uint32_t refuse(int code) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code);
}

// A classic BPF program, put together call by call.
class Program {
 public:
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void give(std::uint32_t verdict) { add(BPF_RET | BPF_K, verdict); }
  void give_if_equal(std::uint32_t value, std::uint32_t verdict) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    give(verdict);
  }
  void give_unless_equal(std::uint32_t value, std::uint32_t verdict) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    give(verdict);
  }
  void give_if_set(std::uint32_t bits, std::uint32_t verdict) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    give(verdict);
  }
  // What `body` adds is for this system call only; it ends with a verdict in any case.
  template <class Body>
  void for_call(long number, const Body& body) {
    load(offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 0);
    const auto jump = code_.size() - 1;
    body();
    code_[jump].jf = static_cast<std::uint8_t>(code_.size() - 1 - jump);
  }
  [[nodiscard]] std::vector<sock_filter>& code() noexcept { return code_; }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
  std::vector<sock_filter> code_;
};

// The lower half of an argument: families and ioctl numbers are ints, the kernel ignores the rest.
std::size_t argument(std::size_t index) {
  return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t) +
         (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
}

Program make_program() {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.give_unless_equal(native, SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
  program.give_if_set(second_abi_bit, refuse(ENOSYS));
  program.give_if_equal(SYS_io_uring_setup, refuse(ENOSYS));
  for (const auto call : {SYS_socket, SYS_socketpair}) {
    program.for_call(call, [&] {
      program.load(argument(0));
      for (const auto family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET}) {
        program.give_if_equal(static_cast<std::uint32_t>(family), SECCOMP_RET_ALLOW);
      }
      program.give(refuse(EAFNOSUPPORT));
    });
  }
  program.for_call(SYS_ioctl, [&] {
    program.load(argument(1));
    program.give_if_equal(TIOCSTI, refuse(EPERM));
    program.give_if_equal(TIOCLINUX, refuse(EPERM));
    program.give(SECCOMP_RET_ALLOW);
  });
  program.give(SECCOMP_RET_ALLOW);
  return program;
}

}  // namespace

Result<void> confine_system_calls() {
  auto program = make_program();
  sock_fprog filter{static_cast<std::uint16_t>(program.code().size()), program.code().data()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    return system_error("cannot install the system call filter");
  }
  return {};
}

}  // namespace stile::netns
