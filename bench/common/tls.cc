#include "bench/common/tls.h"

#include <openssl/err.h>

#include <cerrno>

#include "bench/common/socket.h"

namespace stile::bench {
namespace {

TlsContext make(const SSL_METHOD* method) {
  TlsContext context{SSL_CTX_new(method)};
  if (!context) die("SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

}  // namespace

TlsContext tls_server(const std::string& certificate_file, const std::string& key_file) {
  TlsContext context = make(TLS_server_method());
  errno = EINVAL;
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    die(certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    die(key_file);
  }
  SSL_CTX_set_num_tickets(context.get(), 1);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

TlsContext tls_client(const std::string& trust_file) {
  TlsContext context = make(TLS_client_method());
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (trust_file.empty()) return context;
  errno = EINVAL;
  if (SSL_CTX_load_verify_file(context.get(), trust_file.c_str()) != 1) die(trust_file);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

Tls tls_accept(SSL_CTX* context, int fd) {
  Tls ssl{SSL_new(context)};
  if (!ssl || SSL_set_fd(ssl.get(), fd) != 1) die("SSL_new");
  SSL_set_accept_state(ssl.get());
  return ssl;
}

Tls tls_connect(SSL_CTX* context, int fd, const std::string& host, SSL_SESSION* resumed) {
  Tls ssl{SSL_new(context)};
  if (!ssl || SSL_set_fd(ssl.get(), fd) != 1) die("SSL_new");
  std::string name = host;  // OpenSSL's macro for this has an old-style cast
  SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  SSL_set1_host(ssl.get(), host.c_str());
  if (resumed != nullptr) SSL_set_session(ssl.get(), resumed);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

TlsWait tls_wait(const SSL* ssl, int returned) {
  switch (SSL_get_error(ssl, returned)) {
    case SSL_ERROR_NONE:
      return TlsWait::none;
    case SSL_ERROR_WANT_READ:
      return TlsWait::read;
    case SSL_ERROR_WANT_WRITE:
      return TlsWait::write;
    default:
      ERR_clear_error();
      return TlsWait::ended;
  }
}

}  // namespace stile::bench
