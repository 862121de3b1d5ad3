// Webhook: posts one message over HTTPS, with the certificate verified.
#include "notify/webhook.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/free_by.h"
#include "base/unique_fd.h"

namespace stile::notify {
namespace {

constexpr timeval patience{10, 0};               // for one step
constexpr std::chrono::seconds longest{30};      // for all of them
constexpr std::size_t max_answer_bytes = 16384;  // only the status is read

using TlsContext = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using Tls = std::unique_ptr<SSL, FreeBy<SSL_free>>;

std::string bare(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

Result<UniqueFd> dial(const Url& url) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int failed =
      ::getaddrinfo(bare(url.host).c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (failed != 0) return Error{url.host + ": " + ::gai_strerror(failed)};
  const std::unique_ptr<addrinfo, FreeBy<::freeaddrinfo>> all{found};
  int error = ECONNREFUSED;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    UniqueFd fd{::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol)};
    if (!fd) continue;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) return fd;
    error = errno;
  }
  return Error{url.host + ": " + std::strerror(error)};
}

// What the macro SSL_set_tlsext_host_name does, without its casts.
long set_server_name(SSL* tls, std::string name) {
  return SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
}

// One connection, plain at first.
class Wire {
 public:
  explicit Wire(UniqueFd fd) : fd_{std::move(fd)} {}

  [[nodiscard]] Result<void> secure(const Url& url, const std::string& ca_file) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_ || SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(context_.get()) != 1) {
      return Error{"TLS cannot be set up"};
    }
    if (!ca_file.empty() &&
        SSL_CTX_load_verify_locations(context_.get(), ca_file.c_str(), nullptr) != 1) {
      return Error{ca_file + ": has no usable certificate"};
    }
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    tls_.reset(SSL_new(context_.get()));
    const std::string name = bare(url.host);
    if (!tls_ || SSL_set_fd(tls_.get(), fd_.get()) != 1 || set_server_name(tls_.get(), name) != 1 ||
        SSL_set1_host(tls_.get(), name.c_str()) != 1) {
      return Error{"TLS cannot be set up"};
    }
    if (SSL_connect(tls_.get()) == 1) return {};
    const long verified = SSL_get_verify_result(tls_.get());
    if (verified != X509_V_OK) {
      return Error{url.host + ": its certificate: " + X509_verify_cert_error_string(verified)};
    }
    return Error{url.host + ": the TLS handshake failed"};
  }

  [[nodiscard]] bool send(std::string_view data) {
    while (!data.empty()) {
      const int size = static_cast<int>(data.size());
      const ssize_t sent = tls_ ? SSL_write(tls_.get(), data.data(), size)
                                : ::send(fd_.get(), data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The status line and the header fields of the next answer; its status, or 0.
  [[nodiscard]] int status() {
    const auto give_up = std::chrono::steady_clock::now() + longest;
    std::string answer;
    while (answer.find("\r\n\r\n") == std::string::npos && answer.size() < max_answer_bytes &&
           std::chrono::steady_clock::now() < give_up) {
      char one = 0;  // no byte more than the head: what follows may be TLS
      const ssize_t got = tls_ ? SSL_read(tls_.get(), &one, 1) : ::recv(fd_.get(), &one, 1, 0);
      if (got <= 0) break;
      answer += one;
    }
    const bool is_http = answer.starts_with("HTTP/1.1 ") || answer.starts_with("HTTP/1.0 ");
    if (!is_http || answer.size() < 12) return 0;
    int status = 0;
    for (const char digit : answer.substr(9, 3)) {
      if (digit < '0' || digit > '9') return 0;
      status = status * 10 + (digit - '0');
    }
    return status;
  }

 private:
  UniqueFd fd_;
  TlsContext context_;
  Tls tls_;
};

}  // namespace

Result<int> post(const WebhookOptions& options, const Headers& headers, std::string_view body) {
  const Url& url = options.url;
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  auto fd = dial(options.proxy ? *options.proxy : url);
  if (!fd) return fd.error();
  Wire wire{std::move(*fd)};
  const std::string authority = url.host + ':' + std::to_string(url.port);
  if (options.proxy) {
    if (!wire.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n")) {
      return Error{"the proxy does not answer"};
    }
    if (const int status = wire.status(); status != 200) {
      return Error{"the proxy refuses " + authority + " with " + std::to_string(status)};
    }
  }
  if (url.is_tls) {
    if (auto done = wire.secure(url, options.ca_file); !done) return done.error();
  }
  std::string head = "POST " + url.path + " HTTP/1.1\r\nHost: " + authority +
                     "\r\nUser-Agent: stile-notify\r\nConnection: close\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  if (!wire.send(head + "\r\n") || !wire.send(body)) {
    return Error{url.host + ": the message could not be sent"};
  }
  const int status = wire.status();
  if (status == 0) return Error{url.host + ": no answer"};
  return status;
}

}  // namespace stile::notify
