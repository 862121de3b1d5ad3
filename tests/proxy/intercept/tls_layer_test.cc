// TlsLayer: what a peer can make one read do.
#include "proxy/intercept/tls_layer.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>

namespace stile::intercept {
namespace {

// The server's end is a TlsLayer over a socket. The client's records are made in memory, so that a
// test decides what the socket has.
class TlsLayerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    peer_ = UniqueFd{fds[1]};
    socket_ = loop_.adopt(UniqueFd{fds[0]});
    socket_->mark_readable();
    const KeyPtr key{EVP_EC_gen("P-256")};
    const CertPtr certificate{X509_new()};
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    SSL_CTX_use_certificate(server_context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(server_context_.get(), key.get());
    SSL_CTX_set_default_read_buffer_len(server_context_.get(), 65536);
    client_.reset(SSL_new(client_context_.get()));
    SSL_set_bio(client_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client_.get());
    SslPtr server{SSL_new(server_context_.get())};
    SSL_set_accept_state(server.get());
    layer_ = std::make_unique<TlsLayer>(*socket_, std::move(server), std::string{});
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(SSL_do_handshake(client_.get()));
      send_records();
      static_cast<void>(layer_->handshake());
      receive();
    }
    ASSERT_EQ(SSL_is_init_finished(client_.get()), 1);
    ASSERT_EQ(layer_->handshake(), TlsLayer::Step::done);
  }

  // All that the client has made, to the socket.
  void send_records() {
    char* data = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(client_.get()), &data);
    if (size == 0) return;
    ASSERT_EQ(::send(peer_.get(), data, static_cast<std::size_t>(size), 0), size);
    static_cast<void>(BIO_reset(SSL_get_wbio(client_.get())));
    socket_->mark_readable();
  }
  void receive() {
    std::array<char, 65536> buffer;
    const ssize_t size = ::recv(peer_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) BIO_write(SSL_get_rbio(client_.get()), buffer.data(), static_cast<int>(size));
  }
  void write(std::string_view text) {
    ASSERT_EQ(SSL_write(client_.get(), text.data(), static_cast<int>(text.size())), text.size());
  }
  void update_key() {
    ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
  }
  net::Stream::IoResult read() { return layer_->read(buffer_.data(), buffer_.size()); }

  Loop loop_;
  ContextPtr server_context_{SSL_CTX_new(TLS_server_method())};
  ContextPtr client_context_{SSL_CTX_new(TLS_client_method())};
  UniqueFd peer_;
  SocketPtr socket_;
  SslPtr client_;
  std::unique_ptr<TlsLayer> layer_;  // goes first: it uses the socket
  std::array<char, 65536> buffer_{};
};

TEST_F(TlsLayerTest, TakesAFewKeyUpdates) {
  for (int i = 0; i < 8; ++i) update_key();
  write("x");
  send_records();
  EXPECT_EQ(read().bytes, 1);
}

// OpenSSL alone would read on as long as they arrive, and no other agent would be served.
TEST_F(TlsLayerTest, EndsWithManyKeyUpdates) {
  for (int i = 0; i < 1000; ++i) update_key();
  write("x");
  send_records();
  const auto got = read();
  EXPECT_EQ(got.bytes, -1);
  EXPECT_FALSE(got.would_block);
  EXPECT_EQ(read().error, EPROTO);
  EXPECT_EQ(layer_->write("y", 1).error, EPIPE);
}

TEST_F(TlsLayerTest, EndsWithManyKeyUpdatesAfterData) {
  write("x");
  for (int i = 0; i < 1000; ++i) update_key();
  send_records();
  EXPECT_EQ(read().bytes, 1);
  EXPECT_TRUE(socket_->is_readable());
  EXPECT_EQ(read().error, EPROTO);
}

TEST_F(TlsLayerTest, LooksForInputWithinTheSameBound) {
  for (int i = 0; i < 1000; ++i) update_key();
  send_records();
  EXPECT_TRUE(layer_->has_input());
  EXPECT_EQ(read().error, EPROTO);
}

struct Reader final : Watcher {
  explicit Reader(Loop& loop) : loop_{loop} {}
  void on_ready(Socket& socket) override {
    was_readable = socket.is_readable();
    if (was_readable) loop_.stop();
  }
  bool was_readable = false;

 private:
  Loop& loop_;
};

TEST_F(TlsLayerTest, LetsOthersGoFirstAfterManySmallRecords) {
  constexpr ssize_t count = 1000;
  for (int i = 0; i < count; ++i) write("x");
  send_records();
  const ssize_t first = read().bytes;
  EXPECT_LT(first, 100);
  EXPECT_FALSE(socket_->is_readable());
  Reader reader{loop_};
  socket_->watch(&reader);
  loop_.run([] { return false; });
  EXPECT_TRUE(reader.was_readable);
  ssize_t total = first;
  while (total < count) {
    const auto got = read();
    ASSERT_GT(got.bytes, 0);
    total += got.bytes;
  }
  EXPECT_EQ(total, count);
}

// A message of a handshake can come in records of a single byte.
TEST_F(TlsLayerTest, LetsOthersGoFirstAfterAStepOfTheHandshake) {
  SslPtr server{SSL_new(server_context_.get())};
  SSL_set_accept_state(server.get());
  TlsLayer layer{*socket_, std::move(server), std::string{}};
  std::string records{"\x16\x03\x01\x00\x04\x01\x01\x00\x00", 9};  // a hello of 64 KiB begins
  while (records.size() < 60000) records.append("\x16\x03\x01\x00\x01\x03", 6);
  ASSERT_EQ(::send(peer_.get(), records.data(), records.size(), 0), records.size());
  socket_->mark_readable();
  EXPECT_EQ(layer.handshake(), TlsLayer::Step::wait);
  int left = 0;
  ASSERT_EQ(::ioctl(socket_->fd(), FIONREAD, &left), 0);
  ASSERT_GT(left, 40000);
  EXPECT_FALSE(socket_->is_readable());
  Reader reader{loop_};
  socket_->watch(&reader);
  loop_.run([] { return false; });
  EXPECT_TRUE(reader.was_readable);
}

TEST_F(TlsLayerTest, ReportsAnEndThatCameWithTheData) {
  write("x");
  SSL_shutdown(client_.get());
  send_records();
  EXPECT_EQ(read().bytes, 1);
  EXPECT_TRUE(socket_->is_readable());
  EXPECT_EQ(read().bytes, 0);
}

}  // namespace
}  // namespace stile::intercept
