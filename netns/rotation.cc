// rotation: stores on disk which address was assigned last.
#include "netns/rotation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "config/accounts.h"

namespace stile::netns {
namespace {

constexpr const char* file_name = "netns.last";
constexpr std::size_t most_state_bytes = 64;

Result<UniqueFd> open_state(const std::string& path) {
  // Owned by the daemon's user, if it exists: the daemon may start later and must write here.
  if (::mkdir(path.c_str(), 0750) == 0) {
    const auto daemon = config::find_user("stile");
    if (daemon && ::lchown(path.c_str(), daemon->id, daemon->group) != 0) {
      return system_error("cannot give away " + path);
    }
  } else if (errno != EEXIST) {
    return system_error("cannot make " + path);
  }
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) return system_error("cannot open " + path);
  return fd;
}

}  // namespace

Result<std::optional<acl::Address>> last_given(const std::string& state_dir) {
  const auto directory = open_state(state_dir);
  if (!directory) return directory.error();
  const auto text = read_file(directory->get(), file_name, most_state_bytes);
  if (!text || !*text) return std::optional<acl::Address>{};
  return acl::Address::parse((*text)->substr(0, (*text)->find('\n')));
}

Result<void> set_last_given(const std::string& state_dir, const acl::Address& address) {
  const auto directory = open_state(state_dir);
  if (!directory) return directory.error();
  return replace_file(directory->get(), file_name, address.text() + "\n", 0644, FileOwner{0, 0});
}

}  // namespace stile::netns
