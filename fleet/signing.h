// Signing: Ed25519 keys, signatures and their verification, by OpenSSL.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/envelope.h"

namespace stile::fleet {

struct KeyPair {
  std::string private_pem, public_pem;
};
[[nodiscard]] Result<KeyPair> make_key_pair();

// The public half of a private or public key in PEM: 32 raw bytes.
[[nodiscard]] Result<std::string> public_key(std::string_view pem);
// The lower-case hex SHA-256 of the raw public key: its name in an envelope.
[[nodiscard]] std::string fingerprint(std::string_view raw_public_key);

// Sets signer and signature.
[[nodiscard]] Result<void> sign(std::string_view private_pem, std::string_view name,
                                Envelope& envelope);

// The keys whose signatures count.
class Signers {
 public:
  // PEM. Any other kind of key is an error.
  [[nodiscard]] Result<void> add(std::string_view pem);
  [[nodiscard]] bool is_empty() const noexcept { return keys_.empty(); }
  // That one of the signers signed this object for this name.
  [[nodiscard]] Result<void> verify(std::string_view name, const Envelope& envelope) const;

 private:
  std::map<std::string, std::string> keys_;  // fingerprint to raw public key
};

}  // namespace stile::fleet
