// Public suffixes, from libpsl.
#include "acl/public_suffix.h"

#include <libpsl.h>

namespace stile::acl {

std::string name_above(const std::string& name) {
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string{} : name.substr(dot + 1);
}

bool is_public_suffix(const std::string& name) {
  if (name.find('.') == std::string::npos) return true;
  const psl_ctx_t* list = psl_builtin();
  return list != nullptr && psl_is_public_suffix(list, name.c_str()) == 1;
}

std::string registered_name(std::string host) {
  if (is_public_suffix(host)) return {};
  while (!is_public_suffix(name_above(host))) host = name_above(host);
  return host;
}

}  // namespace stile::acl
