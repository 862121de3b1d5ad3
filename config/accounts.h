// accounts: users and groups of this host, by name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace stile::config {

struct User {
  uid_t id = 0;
  gid_t group = 0;
};

[[nodiscard]] std::optional<User> find_user(const std::string& name);
[[nodiscard]] std::optional<gid_t> find_group(const std::string& name);

}  // namespace stile::config
