// The account that stile-squid runs under when root starts it.
#include "squid/account.h"

#include "config/accounts.h"

namespace stile::squid {

std::string account_of(const Conf& conf) {
  if (!conf.user.empty()) return conf.user;
  for (const char* name : {"proxy", "squid", "nobody"}) {
    if (config::find_user(name)) return name;
  }
  return {};
}

Result<void> check_group(const Conf& conf) {
  if (conf.group.empty()) return {};
  const auto named = config::find_group(conf.group);
  const auto user = config::find_user(account_of(conf));
  if (named && user && user->group == *named) return {};
  return Error{"cache_effective_group " + conf.group + ": is not the group of the user " +
               account_of(conf)};
}

}  // namespace stile::squid
