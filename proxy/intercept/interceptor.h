// Interceptor: makes Stile an end of TLS, towards clients and towards origins.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proxy/base/clock.h"
#include "proxy/base/seeded_hash.h"
#include "proxy/intercept/authority.h"
#include "proxy/intercept/tls_layer.h"

namespace stile::intercept {

// The certificates of one worker, one per host. Signing one takes about 0.1 ms.
class Leaves {
 public:
  static constexpr std::size_t most = 1024;
  // Null: no memory. The certificate lives until the next call.
  [[nodiscard]] X509* get(const Authority& authority, std::string_view host, SteadyTime now);

 private:
  struct Leaf {
    CertPtr certificate;
    SteadyTime made;
  };
  std::unordered_map<std::string, Leaf, SeededHash> leaves_;
  std::deque<std::string> order_;  // the oldest first
};

// Immutable and shared by all workers.
class Interceptor {
 public:
  // Reads the roots of the system, and the PEM files of `trust`.
  static Result<std::shared_ptr<const Interceptor>> make(std::shared_ptr<const Authority> authority,
                                                         const std::vector<std::string>& trust);

  [[nodiscard]] const Authority& authority() const noexcept { return *authority_; }
  // The server's end: TLS 1.2 or newer, HTTP/1.1 only, with a certificate for the host.
  [[nodiscard]] std::unique_ptr<TlsLayer> accept(Socket& socket, std::string_view host,
                                                 std::string first, Leaves& leaves,
                                                 SteadyTime now) const;
  // The client's end: the handshake fails unless the origin proves to be the host.
  [[nodiscard]] std::unique_ptr<TlsLayer> connect(Socket& socket, std::string_view host) const;

 private:
  std::shared_ptr<const Authority> authority_;
  ContextPtr server_, client_;
};

}  // namespace stile::intercept
