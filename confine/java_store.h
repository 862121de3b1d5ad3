// java_store: certificates as a trust store of Java. Pure.
#pragma once

#include <span>
#include <string>

namespace stile::confine {

// A PKCS #12 file with one trusted entry for each certificate (DER). It has no password, because
// nothing in it is secret; Java reads it if no password is set.
[[nodiscard]] std::string java_trust_store(std::span<const std::string> certificates);

}  // namespace stile::confine
