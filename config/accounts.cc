// accounts: users and groups of this host, by name.
#include "config/accounts.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <vector>

namespace stile::config {
namespace {

// The first size is too small for nearly all entries, so that the retry is tested all the time.
constexpr std::size_t first_bytes = 16, most_bytes = std::size_t{1} << 25;

// `look_up` is getpwnam_r or getgrnam_r. ERANGE means that the entry exists but does not fit.
template <class Entry, class LookUp>
std::optional<Entry> find(const std::string& name, const LookUp& look_up) {
  std::vector<char> texts;  // the strings of the entry
  for (std::size_t size = first_bytes; size <= most_bytes; size *= 8) {
    texts.resize(size);
    Entry entry{};
    Entry* found = nullptr;
    if (look_up(name.c_str(), &entry, texts.data(), texts.size(), &found) == ERANGE) continue;
    if (found == nullptr) return std::nullopt;
    return entry;
  }
  return std::nullopt;
}

}  // namespace

std::optional<User> find_user(const std::string& name) {
  const auto entry = find<passwd>(name, ::getpwnam_r);
  return entry ? std::optional{User{entry->pw_uid, entry->pw_gid}} : std::nullopt;
}

std::optional<gid_t> find_group(const std::string& name) {
  const auto entry = find<group>(name, ::getgrnam_r);
  return entry ? std::optional{entry->gr_gid} : std::nullopt;
}

}  // namespace stile::config
