// Public suffixes, from libpsl.
#include "config/public_suffix.h"

#include <libpsl.h>

#include <memory>

namespace stile::config {

bool is_public_suffix(const std::string& name) {
  static const std::unique_ptr<psl_ctx_t, void (*)(psl_ctx_t*)> list{psl_latest(nullptr), psl_free};
  if (name.find('.') == std::string::npos) return true;
  return list != nullptr && psl_is_public_suffix(list.get(), name.c_str()) == 1;
}

}  // namespace stile::config
