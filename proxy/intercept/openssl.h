// OpenSSL's objects with owners.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/free_by.h"

namespace stile::intercept {

using BioPtr = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using CertPtr = std::unique_ptr<X509, FreeBy<X509_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, FreeBy<SSL_SESSION_free>>;
using SslPtr = std::unique_ptr<SSL, FreeBy<SSL_free>>;

// The first error of this thread's queue, which is emptied.
[[nodiscard]] inline std::string openssl_error() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, text, sizeof text);
  }
  ERR_clear_error();
  return text;
}

}  // namespace stile::intercept
