// Landlock through system calls: libc has no functions for them, and Debian's headers are older
// than the rights used here.
#include "proxy/server/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::server {
namespace {

// The kernel's structures (Documentation/userspace-api/landlock.rst). A field that the kernel does
// not know yet must be zero.
struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] BelowPath {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr unsigned version_flag = 1;
constexpr int rule_below_path = 1;

constexpr std::uint64_t write_file = 1U << 1, may_read_file = 1U << 2, read_dir = 1U << 3,
                        remove_dir = 1U << 4, remove_file = 1U << 5, make_dir = 1U << 7,
                        make_file = 1U << 8, truncate = 1U << 14;
constexpr std::uint64_t reading = may_read_file | read_dir;
constexpr std::uint64_t writing =
    reading | write_file | remove_dir | remove_file | make_dir | make_file | truncate;

constexpr std::uint64_t right_to_bind_tcp = 1;
constexpr std::uint64_t abstract_sockets = 1, signals = 2;

// 0: the kernel has none, or it was disabled at boot.
long abi_version() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, version_flag);
  return abi < 0 ? 0 : abi;
}

// Every right on files that this abi knows: whatever no rule names is refused.
std::uint64_t known_file_rights(long abi) {
  if (abi >= 3) return (1U << 15) - 1;  // up to truncate
  return abi == 2 ? (1U << 14) - 1 : (1U << 13) - 1;
}

Error landlock_failed(const char* what) {
  return {std::string{"landlock: "} + what + ": " + error_text(errno)};
}

Result<UniqueFd> make_ruleset(const Ruleset& ruleset) {
  UniqueFd fd{
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0))};
  if (!fd) return landlock_failed("cannot make a ruleset");
  return fd;
}

Result<void> allow_below(const UniqueFd& ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd directory{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) {
    if (errno == ENOENT || errno == EACCES || errno == ENOTDIR) return {};
    return landlock_failed(path.c_str());
  }
  const BelowPath rule{rights, directory.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), rule_below_path, &rule, 0) != 0) {
    return landlock_failed(path.c_str());
  }
  return {};
}

Result<bool> enforce(const UniqueFd& ruleset) {
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return landlock_failed("cannot enforce");
  return true;
}

}  // namespace

Result<bool> landlock_process(const std::vector<std::string>& writable_directories) {
  const long abi = abi_version();
  if (abi == 0) return false;
  const std::uint64_t known = known_file_rights(abi);
  const auto ruleset = make_ruleset({known, abi >= 4 ? right_to_bind_tcp : 0, 0});
  if (!ruleset) return ruleset.error();
  if (auto done = allow_below(*ruleset, "/", reading); !done) return done.error();
  for (const std::string& directory : writable_directories) {
    if (auto done = allow_below(*ruleset, directory, writing & known); !done) return done.error();
  }
  return enforce(*ruleset);
}

Result<bool> landlock_worker() {
  const long abi = abi_version();
  if (abi == 0) return false;
  const auto ruleset = make_ruleset({known_file_rights(abi), abi >= 4 ? right_to_bind_tcp : 0,
                                     abi >= 6 ? abstract_sockets | signals : 0});
  if (!ruleset) return ruleset.error();
  return enforce(*ruleset);
}

}  // namespace stile::server
