// Interceptor: makes Stile an end of TLS, towards clients and towards origins.
#include "proxy/intercept/interceptor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

#include "base/ca_bundle.h"

namespace stile::intercept {
namespace {

constexpr std::size_t read_bytes = 64UL * 1024;  // in one system call; freed while idle
constexpr std::chrono::hours leaf_age{24};       // far below its life
// Of an origin. Most send 4 KB; hundreds of certificates in 64 KB take 25 ms.
constexpr long most_certificates = 32L * 1024;
constexpr std::array<unsigned char, 9> http1{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

// A client that sends no ALPN speaks HTTP/1.1; one that offers only other protocols is refused.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, http1.data(), http1.size(), offered, size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// The other side chooses among these. OpenSSL would offer groups that cost a hundred times as much,
// 100 ms for one handshake with ffdhe8192. Versions before 3.5 know neither the hybrid group nor
// the star, which stands before groups that a key is sent for at once.
void limit_key_exchange(SSL_CTX* context) {
  const bool is_set =
      SSL_CTX_set1_groups_list(context, "*X25519MLKEM768:*X25519:P-256:P-384") == 1 ||
      SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1;
  // In TLS 1.2 a server would choose the group itself, of up to 10,000 bits.
  if (!is_set || SSL_CTX_set_cipher_list(context, "DEFAULT:!kDHE") != 1) throw std::bad_alloc{};
  ERR_clear_error();
}

// OpenSSL compares each key share with each group that a hello names, tries each ticket, and so on:
// a hello of 64 KiB can cost 50 ms. Those of clients are far below these sizes.
bool is_usual(SSL* ssl) {
  struct Part {
    unsigned type;
    std::size_t most;
  };
  constexpr std::array parts{
      Part{TLSEXT_TYPE_supported_groups, 512},
      Part{TLSEXT_TYPE_signature_algorithms, 512},
      Part{TLSEXT_TYPE_signature_algorithms_cert, 512},
      Part{TLSEXT_TYPE_key_share, std::size_t{8} << 10},
      Part{TLSEXT_TYPE_psk, std::size_t{8} << 10},
  };
  constexpr std::size_t most_ciphers = 1024;
  const unsigned char* data = nullptr;
  if (SSL_client_hello_get0_ciphers(ssl, &data) > most_ciphers) return false;
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    std::size_t size = 0;
    return SSL_client_hello_get0_ext(ssl, part.type, &data, &size) != 1 || size <= part.most;
  });
}

int judge_hello(SSL* ssl, int* alert, void*) {
  if (is_usual(ssl)) return SSL_CLIENT_HELLO_SUCCESS;
  *alert = SSL_AD_ILLEGAL_PARAMETER;
  return SSL_CLIENT_HELLO_ERROR;
}

// Strict on both sides: no old versions, no renegotiation, no compression, no early data.
ContextPtr make_context(const SSL_METHOD* method) {
  ContextPtr context{SSL_CTX_new(method)};
  if (!context) throw std::bad_alloc{};
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_security_level(context.get(), 2);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_read_buffer_len(context.get(), read_bytes);
  SSL_CTX_set_max_early_data(context.get(), 0);
  limit_key_exchange(context.get());
  return context;
}

// From one file: workers cannot open files, so the hashed directory that OpenSSL would search later
// is of no use.
void trust_system(SSL_CTX* context) {
  const auto bundle = system_ca_bundle();
  if (!bundle.empty()) SSL_CTX_load_verify_file(context, bundle.c_str());
  ERR_clear_error();
}

// The session of one connection with an origin. A resumed one inherits the time at which the
// certificate was verified, or a session could be renewed for ever.
class OwnSession final : public SessionKeeper {
 public:
  OwnSession(OriginSessions& sessions, std::string key, std::uint64_t trust, SteadyTime now,
             SteadyTime resumed)
      : sessions_{sessions}, key_{std::move(key)}, trust_{trust}, now_{now}, resumed_{resumed} {}
  void keep(SessionPtr session, bool is_resumed) override {
    sessions_.put(key_, trust_, std::move(session), is_resumed ? resumed_ : now_);
  }

 private:
  OriginSessions& sessions_;
  std::string key_;
  std::uint64_t trust_;
  SteadyTime now_, resumed_;
};

}  // namespace

OriginSessions::Kept OriginSessions::get(const std::string& key, std::uint64_t trust,
                                         SteadyTime now) {
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return {};
  const Entry& entry = found->second;
  if (entry.trust != trust || now - entry.verified >= most_age) return {};
  return {entry.session.get(), entry.verified};
}

void OriginSessions::put(const std::string& key, std::uint64_t trust, SessionPtr session,
                         SteadyTime verified) {
  if (const auto found = sessions_.find(key); found != sessions_.end()) {
    found->second = {std::move(session), trust, verified};
    return;
  }
  if (order_.size() >= most) {
    sessions_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  sessions_.emplace(key, Entry{std::move(session), trust, verified});
}

std::uint64_t Interceptor::next_trust() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

X509* Leaves::get(const CertificateAuthority& authority, std::string_view host, SteadyTime now) {
  std::string name{host};
  if (const auto found = leaves_.find(name); found != leaves_.end()) {
    Leaf& leaf = found->second;
    if (now - leaf.made >= leaf_age) leaf = {authority.sign(host), now};
    return leaf.certificate.get();
  }
  CertPtr made = authority.sign(host);
  if (!made) return nullptr;
  if (order_.size() >= most) {
    leaves_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(name);
  return leaves_.emplace(std::move(name), Leaf{std::move(made), now})
      .first->second.certificate.get();
}

Result<std::shared_ptr<const Interceptor>> Interceptor::make(
    std::shared_ptr<const CertificateAuthority> authority, const std::vector<std::string>& trust) {
  auto made = std::make_shared<Interceptor>();
  made->authority_ = std::move(authority);
  made->server_ = make_context(TLS_server_method());
  SSL_CTX* const server = made->server_.get();
  SSL_CTX_set_session_cache_mode(server, SSL_SESS_CACHE_OFF);  // tickets hold the sessions
  SSL_CTX_set_num_tickets(server, 1);
  SSL_CTX_set_alpn_select_cb(server, choose_protocol, nullptr);
  SSL_CTX_set_client_hello_cb(server, judge_hello, nullptr);
  SSL_CTX_set_options(server, SSL_OP_CIPHER_SERVER_PREFERENCE);
  const std::string_view context_id = "stile";
  SSL_CTX_set_session_id_context(server, reinterpret_cast<const unsigned char*>(context_id.data()),
                                 static_cast<unsigned>(context_id.size()));

  made->client_ = make_context(TLS_client_method());
  SSL_CTX* const client = made->client_.get();
  SSL_CTX_set_verify(client, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_max_cert_list(client, most_certificates);
  SSL_CTX_set_alpn_protos(client, http1.data(), http1.size());
  SSL_CTX_set_session_cache_mode(client, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(client, TlsLayer::keep_session);
  trust_system(client);
  for (const std::string& file : trust) {
    if (SSL_CTX_load_verify_file(client, file.c_str()) != 1) {
      return Error{"intercept.trust: " + file +
                   ": no certificates could be read: " + openssl_error()};
    }
  }
  return std::shared_ptr<const Interceptor>{std::move(made)};
}

std::unique_ptr<TlsLayer> Interceptor::accept(Socket& socket, std::string_view host,
                                              std::string first, Leaves& leaves,
                                              SteadyTime now) const {
  X509* const leaf = leaves.get(*authority_, host, now);
  SslPtr ssl{leaf == nullptr ? nullptr : SSL_new(server_.get())};
  if (!ssl || SSL_use_certificate(ssl.get(), leaf) != 1 ||
      SSL_use_PrivateKey(ssl.get(), authority_->leaf_key()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  for (X509* between : authority_->sent_chain()) {
    if (SSL_add1_chain_cert(ssl.get(), between) != 1) return nullptr;
  }
  SSL_set_accept_state(ssl.get());
  return std::make_unique<TlsLayer>(socket, std::move(ssl), std::move(first));
}

std::unique_ptr<TlsLayer> Interceptor::connect(Socket& socket, std::string_view host,
                                               std::string session_key, OriginSessions& sessions,
                                               SteadyTime now) const {
  SslPtr ssl{SSL_new(client_.get())};
  if (!ssl) return nullptr;
  std::string name{host};
  SSL_set_hostflags(ssl.get(),
                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (SSL_set1_host(ssl.get(), name.c_str()) != 1 ||
      SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) !=
          1) {
    ERR_clear_error();
    return nullptr;
  }
  SSL_set_connect_state(ssl.get());
  const OriginSessions::Kept kept = sessions.get(session_key, trust_, now);
  // A session that OpenSSL does not take is no session: the handshake is a full one.
  if (kept.session != nullptr && SSL_set_session(ssl.get(), kept.session) != 1) ERR_clear_error();
  return std::make_unique<TlsLayer>(
      socket, std::move(ssl), std::string{},
      std::make_unique<OwnSession>(sessions, std::move(session_key), trust_, now, kept.verified));
}

}  // namespace stile::intercept
