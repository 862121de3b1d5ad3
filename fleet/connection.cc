// StoreConnection: Beast over OpenSSL, with a deadline for each request.
#include "fleet/connection.h"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <utility>

#include "fleet/gateway.h"

namespace stile::fleet {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds request_time{5};
constexpr std::uint32_t max_head_bytes = 16384;

Error failed(const std::string& host, const std::string& what, const error_code& ec) {
  return Error{host + ": " + what + ": " + ec.message()};
}

// What the macro SSL_set_tlsext_host_name does, without its casts.
void set_server_name(SSL* tls, std::string name) {
  SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
}

}  // namespace

Result<asio::ssl::context> make_tls(const config::FleetSettings& settings) {
  asio::ssl::context tls{asio::ssl::context::tls_client};
  error_code ec;
  tls.set_verify_mode(asio::ssl::verify_peer);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  if (settings.ca.empty()) {
    tls.set_default_verify_paths(ec);
  } else {
    tls.load_verify_file(settings.ca, ec);
  }
  if (ec) return failed(settings.ca, "the roots cannot be read", ec);
  if (settings.cert.empty() != settings.key.empty()) {
    return Error{"fleet.cert and fleet.key belong together"};
  }
  if (settings.cert.empty()) return tls;
  tls.use_certificate_chain_file(settings.cert, ec);
  if (ec) return failed(settings.cert, "not a certificate", ec);
  tls.use_private_key_file(settings.key, asio::ssl::context::pem, ec);
  if (ec) return failed(settings.key, "not the key of the certificate", ec);
  return tls;
}

struct StoreConnection::Stream {
  Stream(asio::io_context& io, asio::ssl::context& tls, config::StoreAddress where)
      : context{io}, address{std::move(where)}, wire{io, tls} {}

  asio::io_context& context;
  config::StoreAddress address;
  beast::ssl_stream<beast::tcp_stream> wire;
  beast::flat_buffer buffer{max_head_bytes + 65536};
  std::string token;
  std::optional<http::response_parser<http::buffer_body>> parser;  // of a stream
  std::array<char, 16384> piece{};
  std::string lines;
  std::size_t searched = 0;  // no newline before this position
  bool is_closed = false;

  [[nodiscard]] beast::tcp_stream& plain() { return beast::get_lowest_layer(wire); }
  [[nodiscard]] std::string request(const std::string& path, const std::string& body) const {
    const bool is_v6 = address.host.find(':') != std::string::npos;
    return "POST /v3" + path +
           " HTTP/1.1\r\nHost: " + (is_v6 ? '[' + address.host + ']' : address.host) + ':' +
           address.port + (token.empty() ? "" : "\r\nAuthorization: " + token) +
           "\r\nUser-Agent: stile-fleet\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  [[nodiscard]] Error problem(const std::string& what, const error_code& ec) const {
    return failed(address.host + ':' + address.port, what, ec);
  }
};

StoreConnection::StoreConnection(asio::io_context& context, asio::ssl::context& tls,
                                 config::StoreAddress address)
    : stream_{std::make_unique<Stream>(context, tls, std::move(address))} {}

StoreConnection::~StoreConnection() = default;

void StoreConnection::set_token(std::string token) { stream_->token = std::move(token); }

void StoreConnection::close() {
  stream_->is_closed = true;
  stream_->plain().close();
}

asio::awaitable<Result<void>> StoreConnection::open() {
  Stream& s = *stream_;
  error_code ec;
  auto use = asio::redirect_error(asio::use_awaitable, ec);
  tcp::resolver resolver{s.context};
  const auto found = co_await resolver.async_resolve(s.address.host, s.address.port, use);
  if (ec) co_return s.problem("no such host", ec);
  if (s.is_closed) co_return Error{"closed"};
  s.plain().expires_after(request_time);
  co_await s.plain().async_connect(found, use);
  if (ec) co_return s.problem("not reached", ec);
  error_code ignored;
  s.plain().socket().set_option(tcp::no_delay{true}, ignored);
  s.plain().socket().set_option(asio::socket_base::keep_alive{true}, ignored);
  error_code not_an_address;
  asio::ip::make_address(s.address.host, not_an_address);
  if (not_an_address) set_server_name(s.wire.native_handle(), s.address.host);
  s.wire.set_verify_callback(asio::ssl::host_name_verification{s.address.host});
  s.plain().expires_after(request_time);
  co_await s.wire.async_handshake(asio::ssl::stream_base::client, use);
  if (ec) co_return s.problem("no TLS", ec);
  co_return Result<void>{};
}

asio::awaitable<Result<std::string>> StoreConnection::call(std::string path, std::string body) {
  Stream& s = *stream_;
  error_code ec;
  auto use = asio::redirect_error(asio::use_awaitable, ec);
  const auto request = s.request(path, body);
  s.plain().expires_after(request_time);
  co_await asio::async_write(s.wire, asio::buffer(request), use);
  if (ec) co_return s.problem("not sent", ec);
  http::response_parser<http::string_body> parser;
  parser.header_limit(max_head_bytes);
  parser.body_limit(max_answer_bytes);
  co_await http::async_read(s.wire, s.buffer, parser, use);
  if (ec) co_return s.problem("no answer to " + path, ec);
  auto answer = parser.release();
  if (answer.result_int() != 200) {
    co_return Error{s.address.host + ':' + s.address.port + ": " +
                    error_of(answer.result_int(), answer.body())};
  }
  co_return text_result(std::move(answer.body()));
}

asio::awaitable<Result<void>> StoreConnection::start_stream(std::string path, std::string body) {
  Stream& s = *stream_;
  error_code ec;
  auto use = asio::redirect_error(asio::use_awaitable, ec);
  const auto request = s.request(path, body);
  s.plain().expires_after(request_time);
  co_await asio::async_write(s.wire, asio::buffer(request), use);
  if (ec) co_return s.problem("not sent", ec);
  s.parser.emplace();
  s.parser->header_limit(max_head_bytes);
  s.parser->body_limit(boost::none);  // next_line() bounds each line
  co_await http::async_read_header(s.wire, s.buffer, *s.parser, use);
  if (ec) co_return s.problem("no answer to " + path, ec);
  if (s.parser->get().result_int() != 200) {
    co_return Error{s.address.host + ':' + s.address.port + ": " +
                    error_of(s.parser->get().result_int(), "")};
  }
  s.plain().expires_never();
  co_return Result<void>{};
}

asio::awaitable<Result<std::string>> StoreConnection::next_line() {
  Stream& s = *stream_;
  error_code ec;
  auto use = asio::redirect_error(asio::use_awaitable, ec);
  while (true) {
    const auto end = s.lines.find('\n', s.searched);
    if (end != std::string::npos) {
      std::string line = s.lines.substr(0, end);
      s.lines.erase(0, end + 1);
      s.searched = 0;
      // clang-tidy 14 goes on after co_return.
      co_return text_result(std::move(line));  // NOLINT(clang-analyzer-cplusplus.Move)
    }
    s.searched = s.lines.size();
    if (s.lines.size() > max_answer_bytes) co_return Error{"a message of the watch is too large"};
    if (s.parser->is_done()) co_return Error{"the watch ended"};
    auto& piece = s.parser->get().body();
    piece.data = s.piece.data();
    piece.size = s.piece.size();
    co_await http::async_read_some(s.wire, s.buffer, *s.parser, use);
    if (ec && ec != http::error::need_buffer) co_return s.problem("the watch broke", ec);
    s.lines.append(s.piece.data(), s.piece.size() - piece.size);
  }
}

}  // namespace stile::fleet
