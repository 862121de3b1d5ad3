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
  [[nodiscard]] X509* get(const CertificateAuthority& authority, std::string_view host,
                          SteadyTime now);

 private:
  struct Leaf {
    CertPtr certificate;
    SteadyTime made;
  };
  std::unordered_map<std::string, Leaf, SeededHash> leaves_;
  std::deque<std::string> order_;  // the oldest first
};

// TLS sessions of one worker with origins, to resume them. Each belongs to one agent and one
// origin, and to the trust that it was made under: a resumed handshake verifies no certificate.
class OriginSessions {
 public:
  static constexpr std::size_t most = 1024;
  static constexpr std::chrono::minutes most_age{10};

  struct Kept {
    SSL_SESSION* session = nullptr;  // null: there is none. It lives until the next call.
    SteadyTime verified;             // when the origin's certificate was
  };
  [[nodiscard]] Kept get(const std::string& key, std::uint64_t trust, SteadyTime now);
  void put(const std::string& key, std::uint64_t trust, SessionPtr session, SteadyTime verified);
  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

 private:
  struct Entry {
    SessionPtr session;
    std::uint64_t trust = 0;
    SteadyTime verified;
  };
  std::unordered_map<std::string, Entry, SeededHash> sessions_;
  std::deque<std::string> order_;  // the oldest first
};

// Immutable and shared by all workers.
class Interceptor {
 public:
  // Reads the roots of the system, and the PEM files of `trust`.
  static Result<std::shared_ptr<const Interceptor>> make(
      std::shared_ptr<const CertificateAuthority> authority, const std::vector<std::string>& trust);

  [[nodiscard]] const CertificateAuthority& authority() const noexcept { return *authority_; }
  // Another number after each change of the trusted roots.
  [[nodiscard]] std::uint64_t trust() const noexcept { return trust_; }
  // The server's end: TLS 1.2 or newer, HTTP/1.1 only, with a certificate for the host.
  [[nodiscard]] std::unique_ptr<TlsLayer> accept(Socket& socket, std::string_view host,
                                                 std::string first, Leaves& leaves,
                                                 SteadyTime now) const;
  // The client's end: the handshake fails unless the origin proves to be the host. A session
  // is resumed only under the same `session_key`, which names the agent and the origin.
  [[nodiscard]] std::unique_ptr<TlsLayer> connect(Socket& socket, std::string_view host,
                                                  std::string session_key, OriginSessions& sessions,
                                                  SteadyTime now) const;

 private:
  std::uint64_t trust_ = next_trust();
  [[nodiscard]] static std::uint64_t next_trust() noexcept;
  std::shared_ptr<const CertificateAuthority> authority_;
  ContextPtr server_, client_;
};

}  // namespace stile::intercept
