// ca_bundle: the roots that this system trusts, in one file.
#include "base/ca_bundle.h"

#include <unistd.h>

#include <array>

namespace stile {

std::string system_ca_bundle() {
  // Debian and most others, Fedora, Alpine and the BSDs.
  constexpr std::array paths{"/etc/ssl/certs/ca-certificates.crt",
                             "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};
  for (const char* path : paths) {
    if (::access(path, R_OK) == 0) return path;
  }
  return {};
}

}  // namespace stile
