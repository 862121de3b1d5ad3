// Interceptor: which handshakes it takes part in. The other side decides what they cost.
#include "proxy/intercept/interceptor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "tests/proxy/tls/hello_bytes.h"

namespace stile::intercept {
namespace {

using tls::big_endian, tls::extension, tls::prefixed;
using Step = TlsLayer::Step;

class InterceptorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    peer_ = UniqueFd{fds[1]};
    socket_ = loop_.adopt(UniqueFd{fds[0]});
    auto authority = CertificateAuthority::in_memory(
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
    ASSERT_TRUE(authority);
    auto made =
        Interceptor::make(std::make_shared<const CertificateAuthority>(std::move(*authority)), {});
    ASSERT_TRUE(made);
    interceptor_ = *made;
  }

  Step answer_to(std::string hello) {
    const auto layer =
        interceptor_->accept(*socket_, "a.test", std::move(hello), leaves_, loop_.now());
    Step step = Step::wait;
    for (int i = 0; i < 8 && step == Step::wait; ++i) step = layer->handshake();
    return step;
  }

  // What OpenSSL sends as a client that can use these groups alone.
  static std::string hello_with(const char* groups) {
    const ContextPtr context{SSL_CTX_new(TLS_client_method())};
    EXPECT_EQ(SSL_CTX_set1_groups_list(context.get(), groups), 1);
    const SslPtr client{SSL_new(context.get())};
    SSL_set_bio(client.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client.get());
    static_cast<void>(SSL_do_handshake(client.get()));
    char* data = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(client.get()), &data);
    return {data, static_cast<std::size_t>(size)};
  }

  Loop loop_;
  UniqueFd peer_;
  SocketPtr socket_;
  std::shared_ptr<const Interceptor> interceptor_;
  Leaves leaves_;
};

// So many groups that the server does not know, the last of them in so many shares.
std::string hello_of_size(std::size_t groups, std::size_t shares, std::size_t tickets,
                          std::size_t ciphers) {
  std::string names = big_endian(29, 2), keys, suites = big_endian(0x1301, 2);
  for (std::size_t i = 0; i < groups; ++i)
    names += big_endian(i + 1 == groups ? 0x1a1a : 0x0a0a, 2);
  for (std::size_t i = 0; i < shares; ++i) keys += big_endian(0x1a1a, 2) + prefixed("x", 2);
  for (std::size_t i = 0; i < ciphers; ++i) suites += big_endian(0x1302, 2);
  tls::HelloParts parts;
  parts.cipher_suites = suites;
  parts.extensions = tls::server_name("a.test") + extension(10, prefixed(names, 2)) +
                     extension(13, prefixed(big_endian(0x0403, 2), 2)) +
                     extension(43, prefixed(big_endian(0x0304, 2), 1)) +
                     extension(51, prefixed(keys, 2));
  if (tickets > 0) {
    std::string identities, binders;
    for (std::size_t i = 0; i < tickets; ++i) {
      identities += prefixed(std::string(32, 't'), 2) + big_endian(0, 4);
      binders += prefixed(std::string(32, 'b'), 1);
    }
    parts.extensions += extension(45, prefixed("\x01", 1)) +
                        extension(41, prefixed(identities, 2) + prefixed(binders, 2));
  }
  std::string records;
  const std::string message = tls::message(parts.body());
  for (std::size_t at = 0; at < message.size(); at += 16384) {
    records += tls::record(std::string_view{message}.substr(at, 16384));
  }
  return records;
}

TEST_F(InterceptorTest, AnswersHellosOfTheUsualSize) {
  for (const char* groups : {"X25519", "P-256", "P-384"}) {
    EXPECT_EQ(answer_to(hello_with(groups)), Step::wait) << groups;
  }
  EXPECT_EQ(answer_to(hello_of_size(20, 4, 0, 100)), Step::wait);
}

TEST_F(InterceptorTest, RefusesGroupsThatCostMuch) {
  for (const char* groups : {"P-521", "ffdhe2048", "ffdhe8192"}) {
    EXPECT_EQ(answer_to(hello_with(groups)), Step::failed) << groups;
  }
}

// OpenSSL compares each of one list with each of another.
TEST_F(InterceptorTest, RefusesHellosOfListsThatCostMuch) {
  EXPECT_EQ(answer_to(hello_of_size(16000, 6000, 0, 0)), Step::failed);
  EXPECT_EQ(answer_to(hello_of_size(1, 2000, 0, 0)), Step::failed);
  EXPECT_EQ(answer_to(hello_of_size(300, 1, 0, 0)), Step::failed);
  EXPECT_EQ(answer_to(hello_of_size(1, 1, 200, 0)), Step::failed);
  EXPECT_EQ(answer_to(hello_of_size(1, 1, 0, 1000)), Step::failed);
}

TEST_F(InterceptorTest, OffersOriginsNoKeyExchangeThatCostsMuch) {
  OriginSessions sessions;
  const auto layer = interceptor_->connect(*socket_, "a.test", "key", sessions, loop_.now());
  ASSERT_EQ(layer->handshake(), Step::wait);
  std::string hello(4096, '\0');
  const ssize_t size = ::recv(peer_.get(), hello.data(), hello.size(), 0);
  ASSERT_GT(size, 100);
  hello.resize(static_cast<std::size_t>(size));
  std::string_view rest{hello};
  const auto take = [&rest](std::size_t bytes) {
    const auto taken = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return taken;
  };
  const auto number = [&take](std::size_t bytes) {
    std::size_t value = 0;
    for (const char c : take(bytes)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  };
  take(5 + 4 + 2 + 32);  // the heads of record and message, version, random
  take(number(1));       // the session id
  const ContextPtr context{SSL_CTX_new(TLS_client_method())};
  const SslPtr any{SSL_new(context.get())};
  for (std::string_view suites = take(number(2)); !suites.empty(); suites.remove_prefix(2)) {
    const auto* suite =
        SSL_CIPHER_find(any.get(), reinterpret_cast<const unsigned char*>(suites.data()));
    EXPECT_TRUE(suite == nullptr || SSL_CIPHER_get_kx_nid(suite) != NID_kx_dhe);
  }
  take(number(1));  // the compression methods
  std::set<std::size_t> groups;
  number(2);
  while (!rest.empty()) {
    const std::size_t type = number(2), bytes = number(2);
    if (type != TLSEXT_TYPE_supported_groups) {
      take(bytes);
      continue;
    }
    for (std::size_t left = number(2); left > 0; left -= 2) groups.insert(number(2));
  }
  groups.erase(0x11ec);  // X25519MLKEM768, where OpenSSL has it
  EXPECT_EQ(groups, (std::set<std::size_t>{23, 24, 29}));
}

}  // namespace
}  // namespace stile::intercept
