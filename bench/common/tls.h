// TLS of the load side over OpenSSL: contexts as every contender gets them, and one non-blocking
// end.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace stile::bench {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using Tls = std::unique_ptr<SSL, FreeTls>;
using TlsSession = std::unique_ptr<SSL_SESSION, FreeTls>;

// TLS 1.3 with AES-128-GCM only, so that all contenders do the same work. These end the program if
// a file is bad.
TlsContext tls_server(const std::string& certificate_file, const std::string& key_file);
// Trusts the certificates of that file; without a name it verifies nothing.
TlsContext tls_client(const std::string& trust_file);

Tls tls_accept(SSL_CTX* context, int fd);
Tls tls_connect(SSL_CTX* context, int fd, const std::string& host, SSL_SESSION* resumed);

// What an operation that did not complete means.
enum class TlsWait { none, read, write, ended };
TlsWait tls_wait(const SSL* ssl, int returned);

}  // namespace stile::bench
