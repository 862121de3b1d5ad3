// CertificateAuthority: the CA that signs for opened hosts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proxy/intercept/openssl.h"

namespace stile::intercept {

// ca.pem holds the certificate that signs, and behind it more of the chain if it is an
// intermediate; ca.key its key. next.pem and next.key are made long before the end: agents that
// start from then on trust both, and those that still run trust the old one until it is replaced.
class CertificateAuthority {
 public:
  static constexpr std::int64_t day_s = 86'400;
  static constexpr std::int64_t life_s = 3650 * day_s;
  static constexpr std::int64_t next_is_made_s = 730 * day_s;  // before the end
  static constexpr std::int64_t next_signs_s = 365 * day_s;    // before the end

  // From a directory, which is made if it does not exist. `now_s` is the Unix time.
  static Result<CertificateAuthority> open(const std::string& directory, std::int64_t now_s);
  static Result<CertificateAuthority> in_memory(std::int64_t now_s);

  // What clients should trust: the root of the certificate that signs, and its successor or
  // predecessor. PEM.
  [[nodiscard]] const std::string& trusted() const noexcept { return trusted_; }
  [[nodiscard]] std::int64_t expires_s() const;

  // A certificate for one host with leaf_key(), signed by the CA. Null: no memory.
  [[nodiscard]] CertPtr sign(std::string_view host) const;
  // One key for all hosts, made at each start: it never leaves this process.
  [[nodiscard]] EVP_PKEY* leaf_key() const noexcept { return leaf_key_.get(); }
  // Certificates that a server sends with its own: those between it and the root. Empty if the CA
  // is the root.
  [[nodiscard]] std::vector<X509*> sent_chain() const;

 private:
  CertPtr certificate_;
  KeyPtr key_, leaf_key_;
  std::vector<CertPtr> chain_;
  std::string trusted_;
};

}  // namespace stile::intercept
